"""The notebooks as files: run them again byte for byte the same, hand readers their own copy.

Nothing here knows what the notebooks teach. `python -m labkit.workbook --help` names the
commands; `lab.py` and Binder call them in the project's folder.
"""
