"""What is inside a presentation that is a ZIP package: pptx and odp."""
