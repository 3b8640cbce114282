"""Each rule of `rules.py` finds what it is there to find, and nothing in a good notebook."""

import copy

import pytest

from tests.notebooks import rules

FIGURE = {
    "output_type": "display_data",
    "metadata": {},
    "data": {"image/png": "iVBORw0=", "text/plain": ["<Figure size 400x300 with 1 Axes>"]},
}


def prose(text: str) -> dict:
    return {"cell_type": "markdown", "id": f"p{abs(hash(text))}", "metadata": {}, "source": [text]}


def printed(text: str, name: str = "stdout") -> dict:
    return {"output_type": "stream", "name": name, "text": [text]}


def code(text: str, count: int | None, *outputs: dict) -> dict:
    return {
        "cell_type": "code",
        "id": f"c{count}",
        "metadata": {},
        "source": [text],
        "execution_count": count,
        "outputs": list(outputs),
    }


def good() -> dict:
    """A small notebook in which nothing is wrong, with all that a rule could stumble over."""
    folded = f"<details>{'w ' * 99}</details>"
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": dict(rules.KERNEL), "language_info": {"name": "python"}},
        "cells": [
            prose("# 01. A title\n![A lock](../lock.svg) [next](02-two.ipynb#part) `# no heading`"),
            code("import random\nrng = random.Random(7)", 1),
            prose("## A part\n```php\n# no title; ![](x)\n```\n" + folded),
            code("draw()", 2, printed("A waits 3 times\n"), FIGURE),
            code("ask()", 3, printed("here\n")) | {"metadata": {"tags": ["needs-server"]}},
        ],
    }


def change(notebook: dict, cell: int, **fields: object) -> None:
    notebook["cells"][cell].update(fields)


def with_code(text: str):
    return lambda nb: change(nb, 1, source=[text])


def with_prose(text: str):
    return lambda nb: change(nb, 2, source=[text])


def with_outputs(*outputs: dict):
    return lambda nb: change(nb, 3, outputs=list(outputs))


def shown(**data: str) -> dict:
    data = {mime.replace("_", "/"): text for mime, text in data.items()}
    return {"output_type": "display_data", "metadata": {}, "data": data}


BROKEN = [
    (rules.run_in_order, lambda nb: change(nb, 3, execution_count=None)),
    (rules.run_in_order, lambda nb: change(nb, 3, execution_count=7)),
    (rules.plain_metadata, lambda nb: nb["metadata"].update(widgets={})),
    (rules.plain_metadata, lambda nb: nb["metadata"]["language_info"].update(version="3.12.1")),
    (rules.plain_metadata, lambda nb: nb["metadata"]["kernelspec"].update(name="mine")),
    (rules.plain_metadata, lambda nb: nb["metadata"].pop("kernelspec")),
    (rules.format_with_ids, lambda nb: nb.update(nbformat_minor=4)),
    (rules.format_with_ids, lambda nb: nb["cells"][0].pop("id")),
    (rules.format_with_ids, lambda nb: change(nb, 1, id="c2")),
    (rules.nothing_volatile, lambda nb: change(nb, 1, metadata={"execution": {}})),
    (rules.nothing_volatile, with_outputs(shown(), {"data": {rules.WIDGET_VIEW: {}}})),
    *[
        (rules.no_forbidden_code, with_code(text))
        for text in (
            "ax.set_title('t');",
            "out = widgets.Output()",
            "interact(f, x=3)",
            "widgets.interactive_output(f, {})",
            "clear_output()",
            "display(x, display_id=True)",
            "import sys\nsys.path.insert(0, '..')",
            "!pip install redis",
            "%pip install redis",
            "time.time()",
            "datetime.now()",
            "random.random()",
            "random.Random()",
            "np.random.default_rng()",
            "print(redis.__version__)",
            "print(sys.version_info)",
            "# NBVAL_IGNORE_OUTPUT\nf()",
        )
    ],
    (rules.only_known_tags, lambda nb: change(nb, 1, metadata={"tags": ["nbval-skip"]})),
    (rules.only_known_tags, lambda nb: change(nb, 1, metadata={"tags": ["raises-exception"]})),
    (rules.short_cells, with_code("x = 1\n" * 21)),
    (rules.short_cells, with_prose("word " * 61)),
    (rules.short_notebook, lambda nb: nb["cells"].extend([prose("word " * 50)] * 31)),
    (rules.short_notebook, lambda nb: nb["cells"].extend([prose("")] * 60)),
    (rules.short_notebook, with_outputs(*[FIGURE] * 6)),
    (rules.orderly_headings, with_prose("# A second title")),
    (rules.orderly_headings, with_prose("### Too deep")),
    (rules.orderly_headings, lambda nb: change(nb, 0, source=["no title"])),
    (rules.described_pictures, with_prose("![](lock.svg)")),
    (rules.described_pictures, with_prose('<img src="lock.svg" alt="">')),
    (rules.facts_beside_figures, with_outputs(FIGURE)),
    (rules.facts_beside_figures, with_outputs(shown(image_svg="<svg/>"))),
    (rules.no_addresses, with_outputs(printed("<Lock object at 0x7f01>"))),
    (rules.no_addresses, with_outputs(shown(text_html="<b>Lock at 0x7f01</b>"))),
    (rules.no_complaints, with_outputs(printed("UserWarning: no", name="stderr"))),
    (rules.no_complaints, with_outputs({"output_type": "error", "ename": "ValueError"})),
]


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_a_good_notebook_passes(rule):
    assert list(rule(good())) == []


@pytest.mark.parametrize(("rule", "spoil"), BROKEN)
def test_a_broken_notebook_is_found(rule, spoil):
    notebook = copy.deepcopy(good())
    spoil(notebook)
    assert list(rule(notebook)) != []


def test_every_rule_is_shown_a_notebook_that_breaks_it():
    assert {rule for rule, _ in BROKEN} == set(rules.RULES)


def test_links_are_followed_from_the_folder_of_the_notebook(tmp_path):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    (folder / "02-two.ipynb").touch()
    (folder / "picture.png").touch()
    notebook = good()
    assert list(rules.live_links(notebook, folder)) == [
        "cell 1 (# 01. A title) links to ../lock.svg, which does not exist"
    ]
    (tmp_path / "lock.svg").touch()
    assert list(rules.live_links(notebook, folder)) == []
    with_prose("[a picture](picture.png)")(notebook)
    assert "the readers' copy does not have" in " ".join(rules.live_links(notebook, folder))


def test_a_file_of_the_allowed_size_is_accepted_and_one_byte_more_is_not():
    assert list(rules.small_file(rules.BYTES - 1)) == []
    assert list(rules.small_file(rules.BYTES)) != []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Two words", 2),
        ("A `SET NX` is it's **one** - command.", 7),
        ("[a link](https://example.org/with/words)", 2),
        ("one<details>two<details>three</details>four</details>five", 2),
        ("one\n```python\ntwo three\n```\nfour", 2),
        ("| a | b |\n|---|---|\n| c | d |", 4),
    ],
)
def test_words_are_counted_as_a_reader_meets_them(text, words):
    assert rules.count_words(text) == words
