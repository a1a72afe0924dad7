"""Content parts in the spellings of all formats (storyline.md 4.5)."""

from __future__ import annotations

import pytest
from hypothesis import given

from hub.errors import Json
from hub.storyline.content import Part, media_type_of, part, parts, text_of
from hub.testing.strategies import json_values

TEXTS: list[tuple[Json, str]] = [
    ("hi", "hi"),
    ("", ""),
    ({"type": "text", "text": "hi"}, "hi"),
    ({"type": "input_text", "text": "hi"}, "hi"),
    ({"type": "output_text", "text": "hi", "annotations": []}, "hi"),
    ({"type": "refusal", "refusal": "no"}, "no"),
]

IMAGES: list[tuple[Json, tuple[str, str, str | None]]] = [
    # ATIF
    (
        {"type": "image", "source": {"media_type": "image/png", "path": "a/b"}},
        ("path", "a/b", "image/png"),
    ),
    ({"type": "image", "source": {"path": "b.jpeg"}}, ("path", "b.jpeg", "image/jpeg")),
    # OpenAI
    (
        {"type": "image_url", "image_url": {"url": "https://h/a.png?s=1", "detail": "low"}},
        ("url", "https://h/a.png?s=1", "image/png"),
    ),
    ({"type": "image_url", "image_url": "https://h/a"}, ("url", "https://h/a", None)),
    (
        {"type": "input_image", "image_url": "data:image/gif;base64,R0"},
        ("url", "data:image/gif;base64,R0", "image/gif"),
    ),
    # Anthropic
    (
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iV"}},
        ("data", "iV", "image/png"),
    ),
    ({"type": "image", "source": {"type": "base64", "data": "iV"}}, ("data", "iV", None)),
    (
        {"type": "image", "source": {"type": "url", "url": "https://h/a.webp"}},
        ("url", "https://h/a.webp", "image/webp"),
    ),
    # ALE
    (
        {"type": "image", "image": {"type": "path", "path": "a.GIF", "media_type": None}},
        ("path", "a.GIF", "image/gif"),
    ),
    (
        {"type": "image", "image": {"type": "url", "url": "u", "media_type": "image/x"}},
        ("url", "u", "image/x"),
    ),
    (
        {"type": "image", "image": {"type": "base64", "data": "iV", "path": None}},
        ("data", "iV", None),
    ),
    (
        {"type": "image", "image": {"type": "base64", "data": "data:image/png;base64,iV"}},
        ("data", "data:image/png;base64,iV", "image/png"),
    ),
]

AUDIO: list[tuple[Json, tuple[str, str, str | None]]] = [
    (
        {"type": "audio", "source": {"media_type": "audio/wav", "path": "a", "duration_sec": 1}},
        ("path", "a", "audio/wav"),
    ),
    ({"type": "audio", "source": {"path": "a.wav"}}, ("path", "a.wav", None)),
    (
        {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}},
        ("data", "UklG", "audio/wav"),
    ),
]

OTHERS: list[Json] = [
    None,
    5,
    [],
    ["text"],
    {},
    {"text": "hi"},
    {"type": "text"},
    {"type": "text", "text": 5},
    {"type": "refusal", "text": "no"},
    {"type": "tool_use", "text": "hi"},
    {"type": ["text"], "text": "hi"},
    {"type": {}, "text": "hi"},
    {"type": None},
    {"type": "image"},
    {"type": "image", "source": "a.png"},
    {"type": "image", "source": {}},
    {"type": "image", "source": {"path": 5}},
    {"type": "image", "source": {"type": "base64", "path": "a.png"}},
    {"type": "image", "source": {"type": "file", "file_id": "f"}},
    {"type": "image", "image": "a.png"},
    {"type": "image", "image": {"path": "a.png"}},
    {"type": "image", "image": {"type": "url", "path": "a.png"}},
    {"type": "image", "image": {"type": ["path"], "path": "a.png"}},
    {"type": "image_url"},
    {"type": "image_url", "image_url": {"uri": "u"}},
    {"type": "image_url", "image_url": 5},
    {"type": "input_image", "image_url": {"url": "u"}},
    {"type": "input_image", "file_id": "f"},
    {"type": "audio", "source": {"data": "UklG"}},
    {"type": "audio", "source": "a.wav"},
    {"type": "input_audio", "input_audio": {"data": "UklG"}},
    {"type": "input_audio", "input_audio": {"format": "wav"}},
    {"type": "input_audio", "input_audio": "UklG"},
]


class TestPart:
    @pytest.mark.parametrize(("element", "text"), TEXTS)
    def test_text(self, element: Json, text: str) -> None:
        """A string, a typed text and a refusal are texts."""
        assert Part("text", element) == part(element)
        assert text == part(element).text

    @pytest.mark.parametrize(("element", "expected"), IMAGES)
    def test_image(self, element: Json, expected: tuple[str, str, str | None]) -> None:
        """An image is known in every spelling; its payload is kept as it is spelled."""
        found = part(element)
        assert "image" == found.kind
        assert expected == (found.key, found.payload, found.media_type)
        assert element is found.element

    @pytest.mark.parametrize(("element", "expected"), AUDIO)
    def test_audio(self, element: Json, expected: tuple[str, str, str | None]) -> None:
        """So is a recording."""
        found = part(element)
        assert "audio" == found.kind
        assert expected == (found.key, found.payload, found.media_type)

    @pytest.mark.parametrize("element", OTHERS)
    def test_other(self, element: Json) -> None:
        """Everything else is shown as its compact JSON text."""
        assert Part("other", element) == part(element)

    def test_text_of_others(self) -> None:
        """The text of what is no text is compact JSON, keys as they stand."""
        assert '{"type":"x","b":1,"a":[null]}' == part({"type": "x", "b": 1, "a": [None]}).text
        assert (
            '{"type":"image_url","image_url":"u"}'
            == part({"type": "image_url", "image_url": "u"}).text
        )

    @pytest.mark.parametrize(
        ("element", "location"),
        [
            ({"type": "image", "source": {"path": "a/b.png"}}, "a/b.png"),
            ({"type": "image_url", "image_url": "https://h/a"}, "https://h/a"),
            (
                {"type": "image", "source": {"type": "base64", "media_type": "m/n", "data": "D"}},
                "data:m/n;base64,D",
            ),
            ({"type": "image", "source": {"type": "base64", "data": "D"}}, "data:;base64,D"),
            (
                {"type": "image", "image": {"type": "base64", "data": "data:m/n;base64,D"}},
                "data:m/n;base64,D",
            ),
            (
                {"type": "input_audio", "input_audio": {"data": "D", "format": "mp3"}},
                "data:audio/mp3;base64,D",
            ),
            ("text", None),
            (5, None),
        ],
    )
    def test_location(self, element: Json, location: str | None) -> None:
        """The location of a payload is its path or URL; of inline data a `data:` URL."""
        assert location == part(element).location

    @pytest.mark.parametrize(
        ("element", "alt_text"),
        [
            ({"type": "image", "source": {"path": "p"}, "alt_text": "a cat"}, "a cat"),
            ({"type": "image", "source": {"path": "p"}, "alt_text": 5}, None),
            ({"type": "image", "image": {"type": "path", "path": "p", "alt_text": "a"}}, "a"),
            ({"type": "image", "image": {"type": "path", "path": "p", "alt_text": None}}, None),
            ({"type": "image_url", "image_url": "u", "alt_text": ""}, ""),
            ({"type": "audio", "source": {"path": "p"}, "alt_text": "a"}, None),
        ],
    )
    def test_alt_text(self, element: Json, alt_text: str | None) -> None:
        """A text `alt_text` of an image is its description."""
        assert alt_text == part(element).alt_text

    @given(json_values())
    def test_any_value(self, value: Json) -> None:
        """Whatever JSON there is, it is a part with a text."""
        found = part(value)
        assert isinstance(found.text, str)
        assert found.element is value


class TestParts:
    def test_array(self) -> None:
        """Each element of an array is a part, also one that is null."""
        assert [Part("text", "a"), Part("other", None)] == list(parts(["a", None]))

    def test_anything_else(self) -> None:
        """Any other value is one part; null is none."""
        assert [Part("text", "a")] == list(parts("a"))
        assert [Part("other", {"x": 1})] == list(parts({"x": 1}))
        assert [] == list(parts(None))
        assert [] == list(parts([]))

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ("a", "a"),
            (None, ""),
            ([], ""),
            (["a", {"type": "text", "text": "b"}, {"type": "image"}, 5, ""], "a|b|"),
            ({"type": "text", "text": "c"}, "c"),
            ({"x": 1}, ""),
            (5, ""),
        ],
    )
    def test_text_of(self, value: Json, text: str) -> None:
        """The text of a message is that of its text parts, joined."""
        assert text == text_of(value, "|")


class TestMediaType:
    @pytest.mark.parametrize(
        ("location", "expected"),
        [
            ("a.png", "image/png"),
            ("a.PNG", "image/png"),
            ("a.jpg", "image/jpeg"),
            ("a.jpeg", "image/jpeg"),
            ("a.gif", "image/gif"),
            ("a.webp", "image/webp"),
            ("a.bmp", None),
            ("png", None),
            ("", None),
            (".png", "image/png"),
            ("a.png/b", None),
            ("a.tar.png", "image/png"),
            ("a.png?x=.gif", "image/png"),
            ("a.png#.gif", "image/png"),
            ("a?x.png", None),
            ("https://h/a.png", "image/png"),
            ("https://h/a.png?w=1#f", "image/png"),
            ("https://h/?f=a.png", None),
            ("https://h.png", None),
            ("https://h.png/", None),
            ("https://[bad/a.png", "image/png"),
            ("data:image/svg+xml;utf8,x", "image/svg+xml"),
            ("data:image/png,x", "image/png"),
            ("data:image/png", "image/png"),
            ("data:;base64,x", None),
            ("data:,x.png", None),
        ],
    )
    def test_media_type_of(self, location: str, expected: str | None) -> None:
        """A `data:` URL names its type; else the suffix of the path says it, if it is one of five."""
        assert expected == media_type_of(location)
