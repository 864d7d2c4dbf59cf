"""Run the notebooks, make the pages, swap the finished report in."""
