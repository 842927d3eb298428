"""Living sites written without knowing the detector: templates after real software, exact labels, seeded noise.

`visible` is for everyone; `held` stays unread until the end; `third`, `fourth` and `fifth` were written later, each
before its author read the rules.
"""
