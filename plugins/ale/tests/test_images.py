"""Inline images taken out of a written document."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hub_ale import plugin

from hub import Storyline, ToolCall, WriteOptions

from .builders import storyline, turn, write_one
from .strict import errors

Json = Any

ONE, TWO = b"one image", b"another"


def inline(payload: bytes, media_type: str = "image/png") -> Json:
    data = base64.b64encode(payload).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


def attach(
    source: Storyline, options: WriteOptions | None = None
) -> tuple[Json, list[tuple[str, bytes]]]:
    options = WriteOptions() if options is None else options
    document = write_one(source, options)
    files = list(plugin.attachments(document, options))
    assert [] == errors(document)
    return document, files


def images(document: Json) -> list[Json]:
    """Return the images of the messages of a document."""
    return [part["image"] for step in document["steps"] for part in step["message"]]


class TestTakeOut:
    def test_message_and_result(self) -> None:
        """Images of messages and of results become files, numbered in order."""
        shot = {"results": [{"source_call_id": "c", "content": [inline(TWO)]}]}
        source = storyline(
            turn(1, "user", [inline(ONE)]),
            turn(
                2,
                tool_calls=[ToolCall(tool_call_id="c", function_name="f", arguments={})],
                observation=shot,
            ),
        )

        document, files = attach(source)

        assert [("screenshots/0000.png", ONE), ("screenshots/0001.png", TWO)] == files
        assert {
            "type": "path",
            "path": "screenshots/0000.png",
            "url": None,
            "data": None,
            "media_type": "image/png",
            "alt_text": None,
        } == document["steps"][0]["message"][0]["image"]
        result = document["steps"][2]["observation"]["results"][0]
        assert result["content"][0]["image"]["path"] == "screenshots/0001.png"

    def test_equal_images(self) -> None:
        """Equal images share a file, unless their types differ."""
        source = storyline(turn(1, "user", [inline(ONE), inline(ONE), inline(ONE, "image/gif")]))

        document, files = attach(source)

        assert [("screenshots/0000.png", ONE), ("screenshots/0001.gif", ONE)] == files
        assert ["screenshots/0000.png", "screenshots/0000.png", "screenshots/0001.gif"] == [
            image["path"] for image in images(document)
        ]

    def test_sub_agents(self) -> None:
        """Numbers go on through the sub-agents of a document."""
        parent = storyline(turn(1, "user", [inline(ONE)]), session_id="p", child_ids=["c"])
        child = storyline(turn(1, "user", [inline(TWO)]), session_id="c")
        options = WriteOptions()
        (document,) = plugin.from_storyline([parent, child], options)

        files = list(plugin.attachments(document, options))

        assert [("screenshots/0000.png", ONE), ("screenshots/0001.png", TWO)] == files

    def test_later_documents(self) -> None:
        """Numbers go on through the documents of an output."""
        options = WriteOptions()

        _, first = attach(storyline(turn(1, "user", [inline(ONE)])), options)
        _, second = attach(storyline(turn(1, "user", [inline(ONE)])), options)

        assert [["screenshots/0000.png"], ["screenshots/0001.png"]] == [
            [path for path, _ in files] for files in (first, second)
        ]

    def test_numbers_in_use(self) -> None:
        """A number that the document refers to already is not given again."""
        known = {"type": "image", "source": {"path": "screenshots/0007.png"}}

        _, files = attach(storyline(turn(1, "user", [known, inline(ONE)])))

        assert [("screenshots/0008.png", ONE)] == files

    @pytest.mark.parametrize(
        ("media_type", "extension"),
        [
            ("image/jpeg", "jpg"),
            ("image/jpg", "jpg"),
            ("image/gif", "gif"),
            ("image/webp", "webp"),
            ("image/bmp", "bmp"),
            ("image/tiff", "tiff"),
            ("image/avif", "avif"),
            ("IMAGE/WEBP", "webp"),
            ("image/x-unknown", "bin"),
            ("../../x", "bin"),
            ("", "bin"),
        ],
    )
    def test_extension(self, media_type: str, extension: str) -> None:
        """The extension is that of a known media type, and never a part of the text."""
        _, files = attach(storyline(turn(1, "user", [inline(ONE, media_type)])))

        assert [(f"screenshots/0000.{extension}", ONE)] == files

    @pytest.mark.parametrize(
        ("url", "extension"),
        [
            ("data:image/gif;base64,b25lIGltYWdl", "gif"),
            ("data:image/gif;charset=x;base64,b25lIGltYWdl", "gif"),
            ("DATA:;BASE64,b25lIGltYWdl", None),
            ("data:;base64,b25lIGltYWdl", "png"),
            ("data:image/gif;base64,b25l\n IGlt YWdl", "gif"),
        ],
    )
    def test_data_url(self, url: str, extension: str | None) -> None:
        """A data URL names its own type."""
        document, files = attach(
            storyline(turn(1, "user", [{"type": "image_url", "image_url": url}]))
        )

        if extension is None:
            # A URL whose scheme is not written as usual is a URL like any other.
            assert ([], "url") == (files, images(document)[0]["type"])
        else:
            assert [(f"screenshots/0000.{extension}", ONE)] == files

    @pytest.mark.parametrize(
        "data", ["no base64!", "QUJ", "", "data:image/png,raw", "data:image/png;base64,%%", "ä"]
    )
    def test_no_base64(self, data: str) -> None:
        """What is no base64 stays inline, with a warning at its place."""
        source = {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": data},
        }
        options = WriteOptions()

        document, files = attach(storyline(turn(1, "user", ["t", source])), options)

        assert [] == files
        assert images(document)[1]["data"] == data
        ((_, problem),) = options.problems
        assert ("warning", "ale.inline-image", "/steps/0/message/1/image/data") == (
            problem.severity,
            problem.rule,
            problem.pointer,
        )

    def test_nothing_inline(self) -> None:
        """Paths and URLs stay, and no file is opened."""
        source = {"type": "image", "source": {"path": "../../../etc/passwd"}}

        document, files = attach(storyline(turn(1, "user", [source])))

        assert [] == files
        assert images(document)[0]["path"] == "../../../etc/passwd"

    def test_storyline_unchanged(self) -> None:
        """Only the document is changed."""
        own = {"type": "image", "image": {"type": "base64", "data": base64.b64encode(ONE).decode()}}
        source = storyline(turn(1, "user", [own]))

        attach(source)

        assert own["image"] == {"type": "base64", "data": "b25lIGltYWdl"}
