"""The fast question: has an object every key, and each value its type? Nearly every object of nearly every file has.

Written out for speed, a function for each kind of object; what these refuse, `hub_ale.completing` looks at closely.

Source: ale.md 1.
"""

from collections.abc import Callable
from operator import itemgetter

from hub import INTEGERS, Json
from hub_ale.model import CALL, IMAGE, OBSERVATION, PART, RESULT, STEP, STEP_METRICS

_members_of_step = itemgetter(*STEP.defaults)
_members_of_call = itemgetter(*CALL.defaults)
_members_of_observation = itemgetter(*OBSERVATION.defaults)
_members_of_result = itemgetter(*RESULT.defaults)
_members_of_part = itemgetter(*PART.defaults)
_members_of_metrics = itemgetter(*STEP_METRICS.defaults)
_members_of_image = itemgetter(*IMAGE.defaults)
(
    _STEP_SIZE,
    _CALL_SIZE,
    _OBSERVATION_SIZE,
    _RESULT_SIZE,
    _PART_SIZE,
    _IMAGE_SIZE,
    _STEP_METRICS_SIZE,
) = (len(kind.defaults) for kind in (STEP, CALL, OBSERVATION, RESULT, PART, IMAGE, STEP_METRICS))


def is_step(value: Json) -> bool:
    try:
        step_id, time, source, message, reasoning, calls, observation, metrics, extra = (
            _members_of_step(value)
        )
    except (KeyError, TypeError):
        return False
    if (
        len(value) != _STEP_SIZE
        or type(step_id) is not int
        or step_id not in INTEGERS
        or type(time) is not str
        or type(source) is not str
        or type(calls) is not list
        or type(extra) is not dict
        or not (reasoning is None or type(reasoning) is str)
    ):
        return False
    for call in calls:
        if not is_call(call):
            return False
    return (
        (observation is None or is_observation(observation))
        and (message is None or type(message) is str or _are(message, is_part))
        and (metrics is None or is_metrics(metrics))
    )


def _are(values: Json, is_complete: Callable[[Json], bool]) -> bool:
    if type(values) is not list:
        return False
    for value in values:  # noqa: SIM110  # half as fast with `all`: most lists have one element
        if not is_complete(value):
            return False
    return True


def is_call(value: Json) -> bool:
    try:
        call_id, name, arguments = _members_of_call(value)
    except (KeyError, TypeError):
        return False
    return (
        len(value) == _CALL_SIZE
        and type(call_id) is str
        and type(name) is str
        and type(arguments) is dict
    )


def is_observation(value: Json) -> bool:
    try:
        results, error = _members_of_observation(value)
    except (KeyError, TypeError):
        return False
    return (
        len(value) == _OBSERVATION_SIZE
        and (error is None or type(error) is str)
        and _are(results, is_result)
    )


def is_result(value: Json) -> bool:
    try:
        call_id, content, is_error = _members_of_result(value)
    except (KeyError, TypeError):
        return False
    if (
        len(value) != _RESULT_SIZE
        or type(call_id) is not str
        or type(is_error) is not bool
        or type(content) is not list
    ):
        return False
    for part in content:  # noqa: SIM110  # half as fast with `all`: most lists have one element
        if not is_part(part):
            return False
    return True


def is_part(value: Json) -> bool:
    try:
        kind, text, image = _members_of_part(value)
    except (KeyError, TypeError):
        return False
    return (
        len(value) == _PART_SIZE
        and type(kind) is str
        and (text is None or type(text) is str)
        and (image is None or is_image(image))
    )


def is_image(value: Json) -> bool:
    try:
        kind, path, url, data, media_type, alt_text = _members_of_image(value)
    except (KeyError, TypeError):
        return False
    return (
        len(value) == _IMAGE_SIZE
        and type(kind) is type(media_type) is str
        and all(text is None or type(text) is str for text in (path, url, data, alt_text))
    )


def is_metrics(value: Json) -> bool:
    try:
        fresh, output, reads, writes, cost, duration = _members_of_metrics(value)
    except (KeyError, TypeError):
        return False
    return (
        len(value) == _STEP_METRICS_SIZE
        and (fresh is None or (type(fresh) is int and fresh in INTEGERS))
        and (output is None or (type(output) is int and output in INTEGERS))
        and (reads is None or (type(reads) is int and reads in INTEGERS))
        and (writes is None or (type(writes) is int and writes in INTEGERS))
        and (cost is None or type(cost) is float)
        and (duration is None or (type(duration) is int and duration in INTEGERS))
    )
