"""Standard protocols: Memento, CDX, IndexNow, WebSub, Atom, Prometheus, health checks and event streams."""
