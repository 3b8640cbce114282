"""English: all texts in one table."""

from labkit.decision.texts import en_designs, en_questions, en_results, en_scenarios

TEXTS = en_questions.TEXTS | en_designs.TEXTS | en_results.TEXTS | en_scenarios.TEXTS
