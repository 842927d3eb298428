"""What other programs speak: Memento, CDX, IndexNow, Atom, Prometheus, health, streams of events."""
