"""The thin asynchronous shell: it moves values between pure decisions and the ports."""
