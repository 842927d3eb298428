"""Rendering with Chromium: a DevTools client of our own, and a browser without network.

Chromium asks for everything through DevTools; what DevTools does not see meets a kernel that opens no socket."""
