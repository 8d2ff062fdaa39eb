"""What is trained: backbones and regularizers, and a method made of both."""
