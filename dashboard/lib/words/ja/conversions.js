import { number } from "../../format.js";

/** @param {(string | false | undefined)[]} parts */
const lost = (parts) => `PDF で失われたもの: ${parts.filter(Boolean).join("、")}。`;

/** @param {Record<string, any>} of */
const slides = (of) => `スライド ${of["slides"].join("、")}`;

/** @type {typeof import("../conversions.js").conversionWords} */
export const conversionWords = {
  title: "プレゼンテーション",
  lead: "プレゼンテーション（PowerPoint、OpenDocument）は PDF になります。画像、動画、PDF はそのまま保存されます。",
  drop: "ここにファイルをドロップ",
  or: "または",
  choose: "ファイルを選択",
  limit: (size) =>
    `ppt, pps, pot, pptx, ppsx, pptm, ppsm, potx, potm, odp, otp, pdf, png, jpeg, webp, gif, mp4, webm · 各 ${size} まで`,
  uploading: (share) => `アップロード中: ${share}`,
  storing: "ファイルを確認中…",
  waits: "順番待ち",
  cancelUpload: (name) => `${name} のアップロードを中止`,
  cancelled: "アップロードを中止しました。",
  unreachable: "アップロードが途切れました。再試行してください。",
  uploads: "アップロード",
  list: "メディア",
  none: "まだ何もアップロードされていません。",
  failedList: "メディアの一覧を読み込めませんでした。",
  status: { pending: "待機中", processing: "変換中", ready: "完了", failed: "失敗", stored: "保存済み" },
  fault: {
    source_missing: "アップロードされたファイルがメディアの保存先にありません。",
    source_changed: "メディアの保存先のファイルが、アップロードされたものと異なります。",
    not_a_presentation: "ファイルの中身がプレゼンテーションではないか、壊れています。",
    encrypted:
      "プレゼンテーションがパスワードで保護されています。パスワードなしで保存して、もう一度アップロードしてください。",
    too_large_unpacked: "プレゼンテーションは展開すると大きすぎます。",
    no_slides: "プレゼンテーションに表示できるスライドがありません。",
    converter_refused: "変換サービスがこのファイルを読み取れません。壊れている可能性があります。",
    converter_failed: "プレゼンテーションを変換できませんでした。壊れている可能性があります。",
    took_too_long: "プレゼンテーションの変換が、1件に許された{seconds}秒を超えます（CONVERSION_DEADLINE_SECONDS）。",
    converter_busy: "変換サービスを利用できません。変換は待機し、この状態が続けば打ち切られます。",
    converter_cut: "PDF が完成する前に変換サービスとの接続が切れました。",
    invalid_pdf: "変換サービスの結果は使える PDF ではありません。",
    converter_unreachable: "変換サービスに接続できません。変換は接続を待っています。",
    queue_full: "変換サービスが混み合っています。変換は順番を待っています。",
    volume_unavailable: "メディアの保存先がいっぱいか、書き込めません。変換は空きを待っています。",
    attempts_used_up: "変換の中断が多すぎたため、打ち切られました。",
  },
  pages: (n) => `${number(n)}ページ`,
  attempt: (n) => `${n}回目`,
  waitingBefore: (n) => `前に${number(n)}件`,
  open: "開く",
  openOf: (name) => `${name} の PDF を開く`,
  newTab: "新しいタブで開く",
  download: "ダウンロード",
  warnings: (n) => `警告${number(n)}件`,
  notes: (n) => `注意${number(n)}件`,
  warning: {
    pages_differ: (of) => `${number(of["slides"])}枚のスライドが${number(of["pages"])}ページになりました。`,
    hidden_slides: (of) => `非表示のスライド${number(of["slides"])}枚は PDF にありません。`,
    fonts_substituted: (of) =>
      Object.keys(of["same_widths"] ?? {}).length === of["fonts"].length
        ? `${number(of["fonts"].length)}個のフォントが同じ幅のものに置き換えられました:`
        : `${number(of["fonts"].length)}個のフォントが置き換えられました。改行位置が変わることがあります:`,
    fonts_not_known: (of) =>
      of["fonts"].length
        ? "使われているフォントは不明です。不足しているものは次の中にあるかもしれません:"
        : "使われているフォントは不明です。",
    formulas_lost: (of) => `${number(of["count"])}個の数式が PDF で見えません: ${slides(of)}。`,
    charts_not_drawn: (of) =>
      `グラフ${number(of["count"])}個は PowerPoint と同じようには表示されません: ${slides(of)}。図として貼り付けてください。`,
    pictures_missing: (of) => `${number(of["count"])}個の画像またはオブジェクトが PDF にありません: ${slides(of)}。`,
    pages_blank: (of) => `スライドに内容があるのに${number(of["count"])}ページが空白です: ${slides(of)}。`,
    text_cut: (of) => `${number(of["count"])}ページで文字がページの端で切れています: ${slides(of)}。`,
    dates_stand_still: (of) => `${number(of["count"])}個の日付や時刻は今後変わりません: ${slides(of)}。`,
    chosen_slides_ignored: () =>
      "プレゼンテーションは選んだスライドだけを表示しますが、PDF には非表示でないすべてのスライドがあります。",
    pages_not_read: (of) =>
      `この報告のために${number(of["pages"])}ページを読み取れませんでした。そこで失われたものは不明です。`,
    contents_not_known: () => "この報告のためにファイルを読み取れませんでした。PDF で何が失われたかは不明です。",
    motion_lost: (of) =>
      lost([
        of["videos"] && `動画${number(of["videos"])}個`,
        of["audios"] && `音声${number(of["audios"])}個`,
        of["animated_slides"] && `${number(of["animated_slides"])}枚のアニメーション`,
      ]),
    letters_missing: (of) =>
      `${number(of["count"])}個の文字が変換側のどのフォントにもなく、四角で表示されます: ${[of["letters"], ...(of["signs"] ?? [])].filter(Boolean).join("、")}`,
    timing_lost: (of) =>
      lost([
        of["transitions"] && `${number(of["transitions"])}枚の画面切り替え`,
        of["advancing"] && `${number(of["advancing"])}枚の自動切り替え`,
      ]),
    workbooks_not_asked: (of) =>
      `グラフはファイル内の数値を表示します。${number(of["count"])}個のブックは開いていません:`,
    links_not_followed: (of) => `リンクされた${number(of["count"])}個のファイルは取得していません:`,
    hyperlinks: (of) => `${number(of["count"])}個のリンクがファイルの外に出ます:`,
  },
  alike: (font, twin) => `${font}: ${twin} で置き換え、各文字は同じ幅`,
  firstPage: (name) => `${name} の最初のページ`,
  moreOf: (name) => `${name} の操作`,
  rename: "名前を変更…",
  convertAgain: "再変換…",
  original: "元のファイルをダウンロード",
  delete: "削除…",
  newName: "新しい名前",
  ask: {
    rename: { title: "このファイルの名前を変更", text: "", go: "変更" },
    delete: {
      title: "このファイルを削除しますか？",
      text: "ファイルと PDF は完全に失われます。アドレスで表示しているディスプレイからも見えなくなります。",
      go: "削除",
    },
    again: {
      title: "再変換しますか？",
      text: "フォントを追加した後に役立ちます。新しい PDF ができるまで今の PDF が使われます。",
      go: "再変換",
    },
  },
  viewer: "アップロードできるのはオペレーターだけです。",
  viewerRetry: "再変換できるのはオペレーターだけです。",
  preview: (name) => `${name} の PDF`,
};
