// Generated from shared/words/*/page/conversions.ftl
export const conversionWords: {
  title: string;
  lead: string;
  drop: string;
  or: string;
  choose: string;
  limit: (facts: { size: string }) => string;
  uploading: (facts: { share: string }) => string;
  storing: string;
  waits: string;
  cancelUpload: (facts: { name: string }) => string;
  cancelled: string;
  unreachable: string;
  uploads: string;
  list: string;
  none: string;
  failedList: string;
  status: {
    pending: string;
    processing: string;
    ready: string;
    failed: string;
    stored: string;
  } & Record<string, string>;
  fault: {
    source_missing: string;
    source_changed: string;
    not_a_presentation: string;
    encrypted: string;
    too_large_unpacked: string;
    no_slides: string;
    converter_refused: string;
    converter_failed: string;
    converter_busy: string;
    converter_cut: string;
    invalid_pdf: string;
    converter_unreachable: string;
    queue_full: string;
    volume_unavailable: string;
    attempts_used_up: string;
  } & Record<string, string>;
  pages: (facts: { n: number }) => string;
  attempt: (facts: { n: number }) => string;
  waitingBefore: (facts: { n: number }) => string;
  open: string;
  openOf: (facts: { name: string }) => string;
  newTab: string;
  download: string;
  warnings: (facts: { n: number }) => string;
  notes: (facts: { n: number }) => string;
  tookTooLong: (facts: { n: number }) => string;
  warning: {
    pages_differ: (facts: { slides_n: number; pages_n: number }) => string;
    hidden_slides: (facts: { n: number }) => string;
    fonts_alike: (facts: { n: number }) => string;
    fonts_substituted: (facts: { n: number }) => string;
    fonts_not_known: string;
    fonts_perhaps_missing: string;
    formulas_lost: (facts: { n: number; slides_n: number; slides: string }) => string;
    charts_not_drawn: (facts: { n: number; slides_n: number; slides: string }) => string;
    pictures_missing: (facts: { n: number; slides_n: number; slides: string }) => string;
    pages_blank: (facts: { n: number; slides_n: number; slides: string }) => string;
    text_cut: (facts: { n: number; slides_n: number; slides: string }) => string;
    dates_stand_still: (facts: { n: number; slides_n: number; slides: string }) => string;
    chosen_slides_ignored: string;
    pages_not_read: (facts: { n: number }) => string;
    contents_not_known: string;
    lost: (facts: { parts: string }) => string;
    letters_missing: (facts: { n: number; letters: string }) => string;
    workbooks_not_asked: (facts: { n: number }) => string;
    links_not_followed: (facts: { n: number }) => string;
    hyperlinks: (facts: { n: number }) => string;
  };
  lost: {
    videos: (facts: { n: number }) => string;
    audios: (facts: { n: number }) => string;
    animated_slides: (facts: { n: number }) => string;
    transitions: (facts: { n: number }) => string;
    advancing: (facts: { n: number }) => string;
  } & Record<string, (facts: { n: number }) => string>;
  alike: (facts: { font: string; twin: string }) => string;
  firstPage: (facts: { name: string }) => string;
  moreOf: (facts: { name: string }) => string;
  rename: string;
  convertAgain: string;
  original: string;
  delete: string;
  newName: string;
  ask: {
    rename: {
      title: string;
      text: string;
      go: string;
    } & Record<string, string>;
    delete: {
      title: string;
      text: string;
      go: string;
    } & Record<string, string>;
    again: {
      title: string;
      text: string;
      go: string;
    } & Record<string, string>;
  } & Record<string, {
      title: string;
      text: string;
      go: string;
    } & Record<string, string>>;
  viewer: string;
  viewerRetry: string;
  preview: (facts: { name: string }) => string;
};
