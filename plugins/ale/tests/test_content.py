"""Content parts, messages and results: the spellings of all formats, and ALE's own, both ways."""

from __future__ import annotations

from typing import Any

import pytest
from hub_ale.content import read_message, write_content, write_message

from .builders import agent, environment, read_one, storyline, trajectory, turn, write_one
from .strict import whole

Json = Any


def text(value: str) -> Json:
    return {"type": "text", "text": value, "image": None}


def image(**members: Json) -> Json:
    return whole({"type": "image", "image": members}, "ContentPart")


def read_part(part: Json) -> Json:
    (read,) = read_one(trajectory({"source": "user", "message": [part]})).turns[0].message
    return read


def write_part(element: Json) -> Json:
    (written,) = write_message([element])
    return written


class TestReadParts:
    @pytest.mark.parametrize(
        ("part", "expected"),
        [
            ({"type": "text", "text": "t"}, {"type": "text", "text": "t"}),
            ({"type": "text", "text": "", "image": None}, {"type": "text", "text": ""}),
            (
                {"type": "image", "image": {"path": "a.jpg"}},
                {"type": "image", "source": {"media_type": "image/png", "path": "a.jpg"}},
            ),
            (
                {
                    "type": "image",
                    "image": {
                        "type": "path",
                        "path": "a",
                        "media_type": "image/webp",
                        "alt_text": "A",
                    },
                },
                {
                    "type": "image",
                    "source": {"media_type": "image/webp", "path": "a"},
                    "alt_text": "A",
                },
            ),
            (
                {"type": "image", "image": {"type": "url", "url": "https://x/a"}},
                {"type": "image", "source": {"media_type": "image/png", "path": "https://x/a"}},
            ),
            (
                {
                    "type": "image",
                    "image": {"type": "base64", "data": "data:image/gif;base64,AAAA"},
                },
                {
                    "type": "image",
                    "source": {"media_type": "image/png", "path": "data:image/gif;base64,AAAA"},
                },
            ),
            (
                {"type": "image", "image": {"type": "base64", "data": "AAAA"}},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
                },
            ),
        ],
    )
    def test_other_spelling(self, part: Json, expected: Json) -> None:
        """Parts are read in the spelling that other formats know."""
        assert expected == read_part(part)
        assert whole(part, "ContentPart") == write_part(expected)

    @pytest.mark.parametrize(
        "source",
        [
            {"type": "path", "path": "http://x/a.png", "media_type": "image/png"},
            {"type": "path", "path": "data:image/png;base64,AAAA", "media_type": "image/png"},
            {"type": "url", "url": "a.png", "media_type": "image/png"},
            {"type": "url", "url": "ftp://x/a.png", "media_type": "image/png", "alt_text": "A"},
            {"type": "path", "path": "a.png", "data": "AAAA", "media_type": "image/png"},
            {"type": "base64", "data": "AAAA", "url": "", "media_type": "image/png"},
        ],
    )
    def test_own_spelling(self, source: Json) -> None:
        """A part that would not come back from another spelling stays as ALE has it, nulls left out."""
        part = {"type": "image", "image": source}

        assert part == read_part(whole(part, "ContentPart"))
        assert whole(part, "ContentPart") == write_part(part)

    def test_message(self) -> None:
        """Of a message a string and null stay, and a list is a list, also of one text."""
        assert [None, "", "m"] == [read_message(None), read_message(""), read_message("m")]
        found = read_one(trajectory({"source": "user", "message": [{"type": "text", "text": "t"}]}))
        assert [{"type": "text", "text": "t"}] == found.turns[0].message

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ([], []),
            ([{"type": "text", "text": "t"}], "t"),
            ([{"type": "text", "text": ""}], ""),
            (
                [{"type": "text", "text": "t"}, {"type": "text", "text": "u"}],
                [{"type": "text", "text": "t"}, {"type": "text", "text": "u"}],
            ),
            (
                [{"type": "image", "image": {"path": "a"}}],
                [{"type": "image", "source": {"media_type": "image/png", "path": "a"}}],
            ),
        ],
    )
    def test_content(self, content: Json, expected: Json) -> None:
        """The content of a result is the string of its only text, else the list of its parts."""
        step = environment(observation={"results": [{"tool_call_id": "c", "content": content}]})

        found = read_one(trajectory(agent("c"), step))

        assert expected == found.turns[0].observation["results"][0]["content"]
        assert whole(content, "ContentPart") == write_content(expected)


class TestWriteParts:
    @pytest.mark.parametrize(
        "element",
        [
            "t",
            {"type": "text", "text": "t"},
            {"type": "input_text", "text": "t"},
            {"type": "output_text", "text": "t", "annotations": []},
            {"type": "refusal", "refusal": "t"},
        ],
    )
    def test_texts(self, element: Json) -> None:
        """Every kind of text is a text part."""
        assert text("t") == write_part(element)

    @pytest.mark.parametrize(
        ("element", "expected"),
        [
            (
                {"type": "image", "source": {"media_type": "image/gif", "path": "a"}},
                {"path": "a", "media_type": "image/gif"},
            ),
            (
                {"type": "image", "source": {"path": "a.JPEG"}},
                {"path": "a.JPEG", "media_type": "image/jpeg"},
            ),
            ({"type": "image", "source": {"path": "a", "media_type": 5}}, {"path": "a"}),
            (
                {"type": "image", "source": {"path": "http://x/a.gif"}},
                {"type": "url", "url": "http://x/a.gif", "media_type": "image/gif"},
            ),
            (
                {"type": "image", "source": {"type": "url", "url": "a.webp?x"}},
                {"type": "url", "url": "a.webp?x", "media_type": "image/webp"},
            ),
            (
                {"type": "image", "source": {"url": "data:image/jpeg;base64,AA"}, "alt_text": "A"},
                {
                    "type": "base64",
                    "data": "data:image/jpeg;base64,AA",
                    "media_type": "image/jpeg",
                    "alt_text": "A",
                },
            ),
            (
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/webp", "data": "AA"},
                },
                {"type": "base64", "data": "AA", "media_type": "image/webp"},
            ),
            (
                {"type": "image_url", "image_url": {"url": "https://x/a"}},
                {"type": "url", "url": "https://x/a"},
            ),
            (
                {"type": "image_url", "image_url": "a.gif"},
                {"type": "url", "url": "a.gif", "media_type": "image/gif"},
            ),
            (
                {"type": "input_image", "image_url": "data:,x"},
                {"type": "base64", "data": "data:,x"},
            ),
            (
                {"type": "image", "image": {"type": "url", "url": "u"}, "text": None},
                {"type": "url", "url": "u"},
            ),
            (
                {"type": "image", "image": {"path": "a"}, "source": {"path": "b"}},
                {"path": "b"},
            ),
        ],
    )
    def test_images(self, element: Json, expected: Json) -> None:
        """Images of every dialect are images; the payload stays as it is spelled."""
        assert image(**expected) == write_part(element)

    @pytest.mark.parametrize(
        ("element", "shown"),
        [
            (5, "5"),
            (None, "null"),
            (["a"], '["a"]'),
            ({"type": "audio", "source": {"path": "a"}}, '{"type":"audio","source":{"path":"a"}}'),
            ({"type": "text", "text": 5}, '{"type":"text","text":5}'),
            ({"type": ["text"], "text": "t"}, '{"type":["text"],"text":"t"}'),
            ({"type": "image"}, '{"type":"image"}'),
            (
                {"type": "image", "source": {"data": "AA"}},
                '{"type":"image","source":{"data":"AA"}}',
            ),
            ({"type": "image", "source": {"path": 5}}, '{"type":"image","source":{"path":5}}'),
            (
                {"type": "image", "image": {"type": "url", "path": "a"}},
                '{"type":"image","image":{"type":"url","path":"a"}}',
            ),
            (
                {"type": "image", "image": {"path": "a", "k": 1}},
                '{"type":"image","image":{"path":"a","k":1}}',
            ),
            (
                {"type": "image", "image": {"path": "a"}, "k": 1},
                '{"type":"image","image":{"path":"a"},"k":1}',
            ),
            ({"type": "image_url", "image_url": {}}, '{"type":"image_url","image_url":{}}'),
            (
                {"type": "input_image", "image_url": {"url": "a"}},
                '{"type":"input_image","image_url":{"url":"a"}}',
            ),
        ],
    )
    def test_anything_else(self, element: Json, shown: str) -> None:
        """What is neither is shown as its compact JSON text."""
        assert text(shown) == write_part(element)

    def test_messages(self) -> None:
        """A message that is neither text nor parts is its JSON text."""
        messages: list[Json] = [None, "", [], {"a": [1]}, 5, True]

        assert [None, "", [], '{"a":[1]}', "5", "true"] == [*map(write_message, messages)]

    def test_contents(self) -> None:
        """Content is always parts."""
        contents: list[Json] = [None, [], "", {"a": 1}, 5]

        expected = [[], [], [text("")], [text('{"a":1}')], [text("5")]]
        assert expected == [*map(write_content, contents)]

    def test_never_the_same_object(self) -> None:
        """A written part is the document's own: changing it changes no Storyline."""
        element = {"type": "image", "image": {"type": "url", "url": "u"}}
        source = storyline(turn(message=[element]))

        write_one(source)["steps"][0]["message"][0]["image"]["url"] = "changed"

        assert element["image"] == {"type": "url", "url": "u"}
