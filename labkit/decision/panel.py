"""The result as HTML: beside the controls of the page, and as its twin without widgets.

Everything is escaped here; nothing relies on colour alone; colours are the reader's theme's.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from labkit.decision.page import DESIGN, NOTHING, OWN, Page
from labkit.decision.questions import BY_KEY, NUMBER_BY_KEY, QUESTIONS, UNKNOWN

_TEXT = "color:var(--jp-ui-font-color1,CanvasText)"
_BOX = (
    f"{_TEXT};background:var(--jp-layout-color1,Canvas);line-height:1.45;"
    "border:1px solid var(--jp-border-color1,#888);border-radius:4px;padding:8px 12px"
)
_MARKS = {"block": "&#10006;", "high": "&#9888;", "medium": "&#9651;", "info": "&#9432;"}


def heading(page: Page, number: int) -> str:
    """One of the six headings, with its answer in one sentence."""
    title = page.t(f"heading.{number}")
    answer = page.state.decision.explanation.answers[title]
    return (f'<div style="{_TEXT};line-height:1.4;margin-top:12px"><h4 style="margin:4px 0">'
            f"{number}. {escape(title)}</h4><i>{escape(answer)}</i></div>")  # fmt: skip


def question(page: Page, key: str) -> str:
    """A question with its help, and whether its answer still matters."""
    t, state = page.t, page.state
    grey = state.relevance[key] == NOTHING
    color = "color:var(--jp-ui-font-color2,GrayText)" if grey else _TEXT
    note = f" ({escape(t('ui.no_effect'))})" if grey else ""
    here = "&#9654; " if key == page.next_question else ""
    words = escape(t(f"{key}.words")) if f"{key}.words" in t.table else ""
    choices = t.choice_help(key, BY_KEY[key].values)
    help = escape(t(f"{key}.help"))
    help += _list(f"{t(f'{key}.{value}')}: {text}" for value, text in choices.items())
    return (f'<div style="{color};line-height:1.4;margin-top:8px"><b>{here}{BY_KEY[key].id} '
            f"{escape(_ask(page, key))}</b>{note} {words}<details><summary>{escape(t('ui.help'))}"
            f"</summary>{help}</details></div>")  # fmt: skip


def _ask(page: Page, key: str) -> str:
    return page.state.decision.explanation.ask(key)


def beside(page: Page, key: str) -> str:
    """What belongs directly beside an answer: what is wrong, and what does not fit."""
    state = page.state
    sentences = [state.problems[key]] if key in state.problems else []
    if key in NUMBER_BY_KEY:
        return _notes(sentences)
    belongs = [k for k, n in NUMBER_BY_KEY.items() if n.belongs_to == key and k in state.problems]
    sentences += [state.problems[k] for k in belongs]
    together = page.t("ui.together")
    sentences += [f"{together}: {text}" for text in state.contradictions.get(key, ())]
    return _notes(sentences)


def _notes(sentences: Iterable[str]) -> str:
    return "".join(
        f'<div style="{_TEXT};border-left:4px solid currentColor;padding-left:6px;line-height:1.4">'
        f"&#9888; {escape(text)}</div>"
        for text in sentences
    )


def result(page: Page) -> str:
    """The design, its one-sentence guarantee, the worst failure, the next question."""
    t, state = page.t, page.state
    decision, e = state.decision, state.decision.explanation
    key = page.next_question
    following = f"{BY_KEY[key].id} {e.ask(key)}" if key else t("ui.no_next")
    rows = [(t("ui.why"), f"{e.why} ({decision.rule})"), (t("ui.not_ensured"), e.not_ensured.text),
            (t("ui.worst"), e.worst), (t("ui.cost"), "; ".join(e.cost)),
            (t("ui.ways_out"), "; ".join(e.changes)) if decision.ways_out
            else (t("ui.alternative"), e.instead), (t("ui.next"), following)]  # fmt: skip
    if len(state.possible) > 1:
        rows.append((t("ui.possible"), ", ".join(id[:3] for id in state.possible)))
    html = [f'<div role="status" aria-live="polite" style="{_BOX}">',
            f"<b>{escape(t('ui.design'))}: {decision.design[:3]} {escape(e.name)}</b>",
            f"<p>{escape(e.ensures.text)}</p>", _table(rows)]  # fmt: skip
    open_ = [key for key in decision.used.unknown if state.relevance[key] == DESIGN]
    if open_:
        names = ", ".join(t(f"{key}.label") for key in open_)
        html.append(f"<p>{escape(t('ui.counted', names=names))}</p>")
    html += [f"<div>{_MARKS[f.level]} <b>{escape(t(f'level.{f.level}'))}</b>: "
             f"{escape(f.sentence.text)}</div>" for f in e.findings]  # fmt: skip
    if e.to_build:
        html.append(f"<p><b>{escape(e.to_build)}</b></p>")
    return "".join([*html, "</div>"])


def more(page: Page) -> str:
    """What is folded below the result."""
    t, d = page.t, page.state.decision
    e = d.explanation
    failures = [(t(f"failure.{key}"), sentence.text) for key, sentence in e.failures.items()]
    changes = t("ui.ways_out") if d.ways_out else t("ui.changes")
    said = (e.why, e.ensures, e.not_ensured, *e.failures.values(), *e.companions, *e.tests)
    folded = [
        _folded(t("ui.failures"), _table(failures)),
        _folded(changes, _list(e.changes or [t("ui.no_changes")])),
        _folded(t("ui.with"), _list(sentence.text for sentence in e.companions)),
        _folded(t("ui.settings"), _list(map(e.parameter, d.parameters))),
        _folded(t("ui.contention"), _list([e.policy])),
        _folded(t("ui.why_not"), _table((e.design(id), why) for id, why in e.why_not.items())),
        _folded(f"{t('ui.tests')}, {t('ui.metrics').lower()}", _list([*e.tests, *e.metrics])),
        _folded(t("ui.words"), _list(t.words("\n".join(map(str, said))))),
    ]
    return f'<div style="{_TEXT};line-height:1.45;padding:4px 12px">{"".join(folded)}</div>'


def twin(page: Page) -> str:
    """The whole page as static HTML, for readers without widgets."""
    t = page.t
    rows = [(f"{q.id} {_ask(page, q.key)}", said(page, q.key)) for q in QUESTIONS]
    six = page.state.decision.explanation.answers.items()
    name = page.typed.get("name") or t("record.unnamed")
    return (f'<div style="{_TEXT}"><b>{escape(t("ui.scenario"))}: {escape(name)}</b>{_table(rows)}'
            f"{result(page)}{more(page)}{_folded(t('ui.answers'), _table(six))}</div>")  # fmt: skip


def said(page: Page, key: str) -> str:
    """An answer as it was given, in words."""
    value = page.answers.get(key, "")
    if value == UNKNOWN:
        return page.t(UNKNOWN)
    known = isinstance(value, str) and value in BY_KEY[key].values
    return page.t(f"{key}.{value}") if known else str(value) or page.t("not_answered")


def scenarios(page: Page) -> list[tuple[str, str]]:
    """The sheets by name: (label, identifier)."""
    own = (page.t("ui.own"), OWN)
    return [(page.t(f"{id}.name"), id) for id in page.sheets if id != OWN] + [own]


def trap(page: Page) -> str:
    """The trap of the present scenario."""
    key = f"{page.scenario}.trap"
    text = f"{page.t('ui.trap')}: {page.t(key)}" if key in page.t.table else ""
    return f'<div style="{_TEXT}">{escape(text)}</div>'


def evidence(page: Page) -> str:
    """What the cases of the present design have shown, if they were run."""
    return lines(map(str, page.shown)) if page.shown else ""


def lines(texts: Iterable[str]) -> str:
    """Some lines of text."""
    return f'<div role="status" style="{_TEXT};line-height:1.45">{_list(texts)}</div>'


def tasks(page: Page) -> str:
    """How many of the controls that the design needs exist."""
    text = page.state.decision.explanation.to_build
    help = page.t("controls.help") if text else ""
    return f'<div style="{_TEXT};margin-top:8px"><b>{escape(text)}</b> {escape(help)}</div>'


def _folded(title: str, html: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{html}</details>"


def _list(entries: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(entry)}</li>" for entry in entries)
    return f'<ul style="margin:4px 0">{items}</ul>'


def _table(rows: Iterable[tuple[str, str]]) -> str:
    cells = "".join(
        f'<tr><th scope="row" style="text-align:left;vertical-align:top;padding:2px 8px 2px 0">'
        f'{escape(name)}</th><td style="text-align:left;vertical-align:top">{escape(text)}'
        "</td></tr>"
        for name, text in rows
    )
    return f"<table>{cells}</table>"
