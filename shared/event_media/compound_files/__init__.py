"""What is inside a presentation that is an OLE compound file: ppt, and password-protected pptx."""
