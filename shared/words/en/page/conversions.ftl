### Uploaded media and their conversion.

these_slides = { $slides_n ->
    [one] slide
   *[other] slides
} { $slides }

conversionWords-title = Presentations
conversionWords-lead = Presentations (PowerPoint, OpenDocument) become PDFs. Pictures, videos and PDFs are kept as they are.
conversionWords-drop = Drop files here
conversionWords-or = or
conversionWords-choose = Choose files
conversionWords-limit = ppt, pps, pot, pptx, ppsx, pptm, ppsm, potx, potm, odp, otp, pdf, png, jpeg, webp, gif, mp4, webm · up to { $size } each
conversionWords-uploading = Uploading { $share }
conversionWords-storing = Checking the file…
conversionWords-waits = Waiting for its turn
conversionWords-cancelUpload = Cancel the upload of { $name }
conversionWords-cancelled = Upload cancelled.
conversionWords-unreachable = The upload was cut off. Try again.
conversionWords-uploads = Uploads
conversionWords-list = Media
conversionWords-none = Nothing has been uploaded yet.
conversionWords-failedList = The list of media could not be loaded.
conversionWords-status-pending = Waiting
conversionWords-status-processing = Converting
conversionWords-status-ready = Ready
conversionWords-status-failed = Failed
conversionWords-status-stored = Stored
conversionWords-fault-source_missing = The uploaded file is no longer on the media volume.
conversionWords-fault-source_changed = The file on the media volume is not the one that was uploaded.
conversionWords-fault-not_a_presentation = The file's content is not a presentation, or is damaged.
conversionWords-fault-encrypted = The presentation is protected by a password; save it without one and upload it again.
conversionWords-fault-too_large_unpacked = The presentation is too large once unpacked.
conversionWords-fault-no_slides = The presentation has no slides that can be shown.
conversionWords-fault-converter_refused = The converter cannot read this file; it may be damaged.
conversionWords-fault-converter_failed = The presentation could not be converted; it may be damaged.
conversionWords-fault-converter_busy = The converter is not available; the conversion waits and is given up when it stays so.
conversionWords-fault-converter_cut = The connection to the converter broke before the PDF was complete.
conversionWords-fault-invalid_pdf = The converter's result is not a usable PDF.
conversionWords-fault-converter_unreachable = The converter cannot be reached; the conversion waits for it.
conversionWords-fault-queue_full = The converter has too much to do; the conversion waits for it.
conversionWords-fault-volume_unavailable = The media volume is full or not writable; the conversion waits for it.
conversionWords-fault-attempts_used_up = The conversion was interrupted too often and was given up.
conversionWords-pages = { $n } { $n ->
    [one] page
   *[other] pages
}
conversionWords-attempt = attempt { NUMBER($n) }
conversionWords-waitingBefore = { $n } before it
conversionWords-open = Open
conversionWords-openOf = Open the PDF of { $name }
conversionWords-newTab = Open in a new tab
conversionWords-download = Download
conversionWords-warnings = { $n } { $n ->
    [one] warning
   *[other] warnings
}
conversionWords-notes = { $n } { $n ->
    [one] note
   *[other] notes
}
conversionWords-tookTooLong = The presentation takes longer to convert than the { $n } seconds that one may take (CONVERSION_DEADLINE_SECONDS).
conversionWords-warning-pages_differ = { $slides_n } { $slides_n ->
    [one] slide
   *[other] slides
} became { $pages_n } { $pages_n ->
    [one] page
   *[other] pages
}.
conversionWords-warning-hidden_slides = { $n } { $n ->
    [one] hidden slide is
   *[other] hidden slides are
} not in the PDF.
conversionWords-warning-fonts_alike = { $n } { $n ->
    [one] font was
   *[other] fonts were
} replaced by one with the same widths:
conversionWords-warning-fonts_substituted = { $n } { $n ->
    [one] font was
   *[other] fonts were
} replaced; lines may break elsewhere:
conversionWords-warning-fonts_not_known = It is not known which fonts its text uses.
conversionWords-warning-fonts_perhaps_missing = It is not known which fonts its text uses; missing ones may be among these:
conversionWords-warning-formulas_lost = { $n } { $n ->
    [one] formula
   *[other] formulas
} cannot be seen in the PDF: { these_slides }.
conversionWords-warning-charts_not_drawn = { $n } { $n ->
    [one] chart does
   *[other] charts do
} not look as in PowerPoint: { these_slides }. Paste it as a picture.
conversionWords-warning-pictures_missing = { $n } { $n ->
    [one] picture or object is
   *[other] pictures or objects are
} missing in the PDF: { these_slides }.
conversionWords-warning-pages_blank = { $n } { $n ->
    [one] page is
   *[other] pages are
} blank although something is on the slide: { these_slides }.
conversionWords-warning-text_cut = Text is cut at the edge of { $n } { $n ->
    [one] page
   *[other] pages
}: { these_slides }.
conversionWords-warning-dates_stand_still = { $n } { $n ->
    [one] date or time
   *[other] dates or times
} will not change any more: { these_slides }.
conversionWords-warning-chosen_slides_ignored = The presentation shows only chosen slides; the PDF has all that are not hidden.
conversionWords-warning-pages_not_read = { $n } { $n ->
    [one] page was
   *[other] pages were
} not read for this report; what is lost there is not known.
conversionWords-warning-contents_not_known = The file could not be read for this report; what is lost in the PDF is not known.
conversionWords-warning-lost = Lost in the PDF: { $parts }.
conversionWords-warning-letters_missing = { $n } { $n ->
    [one] letter has
   *[other] letters have
} no glyph in any font of the converter and { $n ->
    [one] is
   *[other] are
} shown as boxes: { $letters }
conversionWords-warning-workbooks_not_asked = Charts show the figures kept in the file; { $n } { $n ->
    [one] workbook was
   *[other] workbooks were
} not opened for newer ones:
conversionWords-warning-links_not_followed = { $n } { $n ->
    [one] linked file was
   *[other] linked files were
} not fetched:
conversionWords-warning-hyperlinks = { $n } { $n ->
    [one] link leads
   *[other] links lead
} out of the file:
conversionWords-lost-videos = { $n } { $n ->
    [one] video
   *[other] videos
}
conversionWords-lost-audios = { $n } { $n ->
    [one] sound
   *[other] sounds
}
conversionWords-lost-animated_slides = animation on { $n } { $n ->
    [one] slide
   *[other] slides
}
conversionWords-lost-transitions = transitions of { $n } { $n ->
    [one] slide
   *[other] slides
}
conversionWords-lost-advancing = automatic advance of { $n } { $n ->
    [one] slide
   *[other] slides
}
conversionWords-alike = { $font }: replaced by { $twin }, each letter as wide
conversionWords-firstPage = First page of { $name }
conversionWords-moreOf = More about { $name }
conversionWords-rename = Rename…
conversionWords-convertAgain = Convert again…
conversionWords-original = Download original
conversionWords-delete = Delete…
conversionWords-newName = New name
conversionWords-ask-rename-title = Rename this file
conversionWords-ask-rename-text = {""}
conversionWords-ask-rename-go = Rename
conversionWords-ask-delete-title = Delete this file?
conversionWords-ask-delete-text = The file and its PDF are gone for good. Displays that show it by its address will not find it.
conversionWords-ask-delete-go = Delete
conversionWords-ask-again-title = Convert it again?
conversionWords-ask-again-text = Useful after fonts were installed. The current PDF is served until the new one is ready.
conversionWords-ask-again-go = Convert again
conversionWords-viewer = Only operators can upload.
conversionWords-viewerRetry = Only operators can convert again.
conversionWords-preview = PDF of { $name }
