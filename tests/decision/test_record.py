"""Records: their text, what is escaped in them, and the way there and back."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.decision import decide, record
from labkit.decision.designs import DESIGNS
from labkit.decision.evidence import Shown, names_of
from labkit.decision.saved import CHANGED, UNCHANGED, changes, check_file, load
from labkit.decision.texts import Sentence
from labkit.decision.writing import escape
from labkit.sim.errors import LabkitError
from tests.decision.conftest import scenarios

GOLDEN = Path(__file__).parent / "golden"


def golden_records(answers):
    """The records that are compared to the letter. To renew them: see `test_golden_text`."""
    numbers = {"work_p50_ms": 900, "work_p99_ms": 40_000, "work_max_ms": 70_000, "pause_ms": 10_000,
               "final_write_p99_ms": 2_000, "redis_p999_ms": 20, "recover_ms": 120_000,
               "arrivals_per_s": 0.2, "workers": 4}  # fmt: skip
    sure = {"confidence": {"goal": "measured", "scope": "looked_up", "work_p99_ms": "measured"}}
    report = decide(answers("S01", controls=["metrics"], controls_planned=["unique_token"],
                            persistence="rdb", **numbers, **sure))  # fmt: skip
    texts = {"name": "the nightly report", "decided_by": "Ana, Jörg", "date": "2026-11-30"}
    other = {"chosen": "D06", "because": "we have a database", "link": "docs/adr/0007.md"}
    return {
        "report.md": record(report, **texts).markdown,
        "report.json": record(report, **texts).json,
        "report-pr.md": record(report, form="pr", **texts).markdown,
        "overridden.md": record(decide(answers("S10")), **texts, **other).markdown,
        "refused.md": record(decide(answers("X3")), name="the payment file").markdown,
    }


@pytest.mark.parametrize(
    "name", ["report.md", "report.json", "report-pr.md", "overridden.md", "refused.md"]
)
def test_golden_text(name, answers):
    """Renew after a wanted change: python -m pytest ... ; then copy what the failure shows."""
    assert golden_records(answers)[name] == (GOLDEN / name).read_text(encoding="utf-8")


def test_sections_of_madr(answers):
    text = record(decide(answers("S03"))).markdown
    heads = re.findall(r"^##? .*|^### Con.*", text, re.M)
    assert [head.lstrip("# ") for head in heads][1:] == [
        "In Short",
        "Context and Problem Statement", "Decision Drivers", "Considered Options",
        "Decision Outcome", "Consequences", "Confirmation", "More Information"]  # fmt: skip


def test_the_whole_row_of_failures_is_in_the_record(answers):
    text = record(decide(answers("S01"))).markdown
    rows = re.findall(r"^\| (?!When)(.*?) \| (.*?) \|$", text, re.M)
    assert len(rows) == 7
    assert all(answer for _, answer in rows)


def test_a_refusal_is_proposed_with_its_own_title(answers):
    text = record(decide(answers("X3")), name="the file").markdown
    assert "# Change the receiver before you lock: the file" in text
    assert 'status: "proposed"' in text
    assert "Any of these answers would make it possible:" in text


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda scenario: scenario["id"])
def test_the_short_form_has_at_most_25_lines(scenario):
    decision = decide(scenario["answers"])
    for design in DESIGNS:
        built = decision.instead(design.id)
        short = record(decision, form="pr", name="x", chosen=design.id, because="y", link="z",
                       evidence=built.evidence)  # fmt: skip
        assert ("Run now, as expected: " in short.markdown) == bool(names_of(built))
        assert len(short.markdown.splitlines()) <= 25
        assert "- [ ] Check before merge: " in short.markdown


def test_assumed_and_unknown_answers_are_to_be_checked(answers):
    sure = dict.fromkeys(answers("S01"), "measured") | {"goal": "assumed", "cont": "looked_up"}
    text = record(decide(answers("S01", redis="unknown", confidence=sure))).markdown
    checks = text.partition("#### Check before merge")[2].partition("## More")[0]
    assert checks.count("- [ ]") == 2
    assert "(assumed); checked by: ______" in checks
    assert 'unknown, counts as "a replica takes over' in checks


def test_what_was_not_asked_is_neither_unknown_nor_to_be_checked(answers):
    open_ = dict.fromkeys(("redis", "lookup", "reject"), "unknown")
    text = record(decide(answers("S03", **open_))).markdown
    assert "whether it happened? not asked: makes no difference\n" in text
    assert "counts as" not in text
    assert "(unknown)" not in record(decide({"lookup": "yes", "lookup_final": "unknown"})).markdown
    checks = text.partition("#### Check before merge")[2].partition("## More")[0]
    assert "Redis" not in checks and "receiver" not in checks
    asked = record(decide(answers("S01", redis="unknown"))).markdown
    assert 'unknown, counts as "a replica takes over (Sentinel, Cluster, managed ' in asked


def test_what_a_reader_wants_first_stands_first(answers):
    text = record(decide(answers("S01"))).markdown
    places = [text.index(part) for part in (
        "\n## In Short", "\n- Why: ", "\n- Does not ensure: ", "\n| When something fails",
        "\n### Goes with it", "\n## Context", "\n### To know", "\n### Words")]  # fmt: skip
    assert places == sorted(places)
    assert text.count("### Goes with it") == text.count("| When something fails") == 1
    assert re.search(r"^- take care: A restart .* <sub>W04_RESTART_FORGETS</sub>$", text, re.M)


def test_a_record_explains_the_words_in_it(answers):
    words = record(decide(answers("S01"))).markdown.partition("### Words")[2]
    assert "- TTL: the time after which Redis deletes" in words
    assert "SKIP LOCKED" not in words


def test_an_override_shows_recommendation_choice_and_the_accepted_failures(answers):
    text = record(decide(answers("S10")), chosen="D09", because="simpler", decided_by="Bo").markdown
    assert 'Recommended: "D11 A Redis lock to save work' in text
    assert 'Chosen: "D09 One Redis lock with an end, to save work"' in text
    assert "because: simpler." in text
    accepted = text.partition("With it these failures are accepted:")[2]
    assert "longer than its lock or patience lasts: two may work at the same time" in accepted
    assert 'decision-makers: "Bo"' in text


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"form": "html"}, "form: 'html' is not possible. Possible: adr, pr."),
        ({"chosen": "D77"}, "chosen: 'D77' is not a design. Possible: D00_NO_COORDINATION, "),
    ],
)
def test_what_a_record_cannot_be(answers, more, sentence):
    with pytest.raises(LabkitError, match=re.escape(sentence)):
        record(decide(answers("S03")), **more)


def test_evidence_is_marked_as_run_now(answers):
    shown = Shown("holds", "guarded", "That it holds",
                  Sentence("guarded: none fails among 6", "ran now: x"), True)  # fmt: skip
    text = record(decide(answers("S03")), evidence=[shown]).markdown
    assert "- That it holds: guarded: none fails among 6 [ran now: x]" in text
    assert "- That it holds: not run for this record" in record(decide(answers("S03"))).markdown
    assert "- That it holds: not yet shown here" in record(decide(answers("S05"))).markdown


# -- escaping --------------------------------------------------------------------------------------

EVIL = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](https://evil.example/x.png)",
    "a\n# heading\n- [x] item\n---\nstatus: accepted",
    "| a | b |",
    "`code` **bold** _it_ ~~gone~~ $x^2$",
    "&lt;b&gt; &amp; &#60;",
    "<!-- comment -->",
    "see https://evil.example and www.evil.example, @somebody, #12",
    "\u202eright to left \u0000 \x1b[31m \u2028 line",
    '"quoted": yaml',
    "1. list",
    "- list",
    "+ list",
    "{{ x }} {% y %}",
    "\\`not code`",
]


@pytest.mark.parametrize("evil", EVIL)
def test_typed_text_is_one_line_without_markup(evil):
    text = escape(evil)
    assert "\n" not in text and "\r" not in text
    assert all(c.isprintable() for c in text)
    assert not re.search(r"[<>]", text)
    assert not re.search(r"(?<!\\)[`*_\[\]|~$!#{}()]", text.replace("&#", ""))
    assert not re.search(r"https?://|www\.|@\w|[^&]#\d", text)
    assert not re.match(r"[-+=]|\d+[.)]", text)


@pytest.mark.parametrize("evil", EVIL)
@pytest.mark.parametrize("form", ["adr", "pr"])
def test_nothing_typed_changes_the_shape_of_a_record(answers, evil, form):
    fields = ("name", "because", "decided_by", "date", "link")
    decision = decide(answers("S10"))
    plain = record(decision, form=form, chosen="D09", **dict.fromkeys(fields, "word")).markdown
    typed = record(decision, form=form, chosen="D09", **dict.fromkeys(fields, evil)).markdown
    assert len(typed.splitlines()) == len(plain.splitlines())

    def shape(text):
        return [re.match(r"[#\-|>\s\[\]x]*", line)[0] for line in text.splitlines()]

    assert shape(typed) == shape(plain)
    assert "<script" not in typed and "<img" not in typed


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.text())
def test_any_text_comes_back_from_the_json_as_it_was_typed(text):
    decision = decide({"scope": "one_db"})
    again = load(record(decision, name=text, because=text).json)
    assert again.typed == ({"name": text, "because": text} if text else {})
    json.loads(record(decision, name=text).markdown.splitlines()[2].partition(": ")[2])


# -- there and back --------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda scenario: scenario["id"])
def test_a_record_read_again_is_the_same(scenario):
    decision = decide(scenario["answers"] | {"controls": ["metrics"], "work_p99_ms": 12.5})
    again = load(record(decision, name="n").json)
    assert again.problems == []
    assert dict(again.answers) == dict(decision.answers)
    assert record(again.decision, **again.typed) == record(decision, name="n")
    same = f"Unchanged: {decision.design} (rule {decision.rule})."
    assert changes(again) == (UNCHANGED, [same])


def test_sets_and_tuples_are_written_as_lists(answers):
    decision = decide(answers("S03", controls={"metrics", "bounded_wait"}))
    assert json.loads(record(decision).json)["answers"]["controls"] == ["bounded_wait", "metrics"]


def edited(answers, id, *, result=None, **change):
    data = json.loads(record(decide(answers(id))).json)
    data["answers"] |= change
    data["result"] |= result or {}
    return changes(load(json.dumps(data)))


def test_an_edited_answer_that_changes_the_design_is_named(answers):
    code, sentences = edited(answers, "S13", cont="high")
    assert code == CHANGED
    assert "The design changes from D03_TRANSACTION to D05_ROW_LOCK (rule A11)." in sentences
    assert "Answer cont was low; it is high now." in sentences


def test_a_changed_rule_is_named(answers):
    code, sentences = edited(answers, "S13", result={"design": "D05_ROW_LOCK", "rule": "A99"})
    assert code == CHANGED
    assert sentences[-1] == "The rule that fired was A99; it is A12 now: the rules have changed."


def test_changed_blockers_are_named(answers):
    code, sentences = edited(answers, "S13", controls=["metrics"])
    assert code == CHANGED
    assert sentences[0].startswith(
        'In the way of "accepted": was W17_MISSING_CONTROL, operation_key'
    )


def test_an_answer_that_changes_nothing_is_no_change(answers):
    assert edited(answers, "S13", redis="none")[0] == UNCHANGED


def test_save_writes_both_files_and_never_over_others(answers, tmp_path):
    saved = record(decide(answers("S03")), name="stock")
    files = saved.save(tmp_path / "adr" / "0007.md")
    assert [file.name for file in files] == ["0007.md", "0007.json"]
    assert files[0].read_text(encoding="utf-8") == str(saved)
    assert check_file(files[1])[0] == UNCHANGED
    with pytest.raises(LabkitError, match="exists already and was left alone"):
        saved.save(tmp_path / "adr" / "0007.json")
    with pytest.raises(LabkitError, match="could not be written"):
        saved.save(files[0] / "below-a-file")


def test_dots_in_a_name_are_kept(answers, tmp_path):
    files = record(decide(answers("S03"))).save(tmp_path / "v1.2-stock")
    assert [file.name for file in files] == ["v1.2-stock.md", "v1.2-stock.json"]


def test_another_variant_of_the_same_design_is_a_change(answers):
    code, sentences = edited(answers, "S02", reject="none")
    assert code == CHANGED
    assert sentences[0].startswith("The design's variant changes from KEY to LOOKUP: ")


@pytest.mark.parametrize("evil", EVIL)
@pytest.mark.parametrize("form", ["adr", "pr"])
def test_what_a_notebook_renders_has_no_line_in_which_markdown_is_not_escaped(answers, evil, form):
    saved = record(decide(answers("S10")), form=form, name=evil, decided_by=evil, date=evil)
    assert saved._repr_markdown_().startswith("#")
    assert json.dumps(evil) not in saved._repr_markdown_()
    assert "](javascript:" not in saved._repr_markdown_()
    assert repr(saved) == saved.markdown
