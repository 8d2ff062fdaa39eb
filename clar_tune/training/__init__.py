"""One training: specification and graph in, record out. Knows no Ray and no files."""
