"""Many inputs: what there is to do, who does it, and what became of each.

    plan --items--> pool --outcomes, in the order of the plan--> journal, summary, caller

Source: validation.md 2.4; detection.md 5; design.md, failure.
"""
