"""Exercises: one module per notebook, and how an answer is marked.

An answer is marked by runs, never by comparing it with a stored solution: any schedule that breaks
the rule is right, and so is any repair that holds in every schedule and still does the work.
"""
