"""One file for one third-party library; nothing above imports them."""
