"""Sites with edited content, edited templates and widgets that change all the time."""
