"""Living sites written without knowing the detector: templates after real software, exact labels, seeded noise.

`visible` is for everyone; `held` stays unread until the end; `third` and `fourth` were written later, each by somebody
who did not know the rules.
"""
