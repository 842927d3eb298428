"""How fresh is a collection, what would a budget buy, and how does a page change? From its state alone."""

from __future__ import annotations

from evercrawl.collection.forecast.freshness import freshness_of, plan_of
from evercrawl.collection.forecast.habits import habits_of
from evercrawl.collection.forecast.left_alone import left_alone
from evercrawl.collection.forecast.saved import saved_in
from evercrawl.collection.forecast.steering import steering_of

__all__ = ["freshness_of", "habits_of", "left_alone", "plan_of", "saved_in", "steering_of"]
