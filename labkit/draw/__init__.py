"""Pictures: a trace drawn as a timeline, and saved as a file.

    svg        elements, measures, looks      sheet      what can be put on a drawing
    story      a trace, sorted into lanes     timeline   a trace as a picture
    saving     a trace as a file

A picture says nothing that is not in its trace, and never says it by colour alone.
"""
