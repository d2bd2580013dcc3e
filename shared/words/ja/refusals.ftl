# HTTP ステータスごとの題
status_400 = 不正なリクエスト
status_401 = 未認証
status_403 = 許可されていません
status_404 = 見つかりません
status_405 = 使えないメソッド
status_406 = 応答できる形式がありません
status_409 = 今の状態ではできません
status_412 = 前提が変わりました
status_413 = 大きすぎます
status_414 = アドレスが長すぎます
status_415 = 対応していない種類
status_416 = 範囲外
status_422 = 規則により拒否
status_423 = ロック中
status_429 = リクエストが多すぎます
status_500 = 内部エラー
status_503 = 一時的に利用できません
status_507 = メディアの保存先が使えません

# リクエスト
invalid_field = 正しくない項目があります。
bad_request = リクエストを理解できません。
malformed_json = リクエストが正しい JSON ではありません。
body_must_be_object = リクエストは JSON オブジェクトでなければなりません。
body_must_be_json = リクエストは Content-Type: application/json の JSON で送ってください。
body_must_be_form = リクエストは multipart/form-data で、項目 file にファイルを入れてください。
body_must_be_part = アップロードの一部は Content-Type: { $content_type } で送ってください。
body_must_be_picture = 画像は Content-Type: { $content_type } で送ってください。
body_too_large = リクエストが大きすぎます。
body_over_limit = リクエストは{ $limit_bytes }バイトまでです。
body_longer_than_file = リクエストがファイルの残りより長いです。
form_too_large = ファイルを包むフォームが大きすぎます。
content_length_odd = Content-Length が数値ではありません。
uri_too_long = リクエストのアドレスが長すぎます。
path_unknown = このアドレスには何もありません。
method_unknown = このアドレスはこのメソッドに対応していません。対応するものはヘッダー Allow にあります。
not_acceptable = 求められたどの形式でも応答できません。
range_not_satisfiable = 求められた範囲がファイルの外にあります。
precondition_failed = その後変更されています。もう一度確認してください。
protocol_unknown = 分割アップロードは tus 1.0.0 を使います。ヘッダー Tus-Resumable で示してください。
idempotency_key_reused = この Idempotency-Key は別のリクエストで使用済みです。
not_found = この番号のものはありません。
state_conflict = 今の状態ではできません。
refused = 規則によりこのリクエストは受け付けられません。
internal_error = サーバーで問題が起きました。報告の際はリクエスト番号を伝えてください。
database_unavailable = データベースが応答していません。少し待って再試行してください。
task_queue_unavailable = タスクキューに接続できません。
authority_unreadable = DISPLAYS_CA_FILE を読み込めません（{ $error }）。

# サインインと権限
invalid_identity = 本人確認の情報が受け付けられませんでした。
sign_in_or_send_token = サインインするか、API トークンを Authorization: Bearer で送ってください。
only_bearer = API トークンの Authorization: Bearer だけが使えます。
name_or_password_wrong = 名前またはパスワードが違います。
rights_changed = 権限が変わりました。サインインし直してください。
no_admin_any_more = もう管理者ではありません。サインインし直してください。
display_or_password_wrong = ディスプレイまたはそのパスワードが違います。
display_login_missing = ディスプレイの UUID とパスワードを Authorization: Basic で送ってください。
forbidden = あなたの権限ではできません。
role_needed = { role_wanted }の権限が必要です。あなたは{ role_held }です。
site_not_allowed = あなたの権限は一部の拠点だけのものです。これはその範囲を超えます。
person_unknown = あなたのメールアドレスはまだ登録されていません。そのアドレスで追加するよう管理者に頼んでください。
email_unknown = { $email } はまだこのサーバーを使えません。そのアドレスで追加するよう管理者に頼んでください。
groups_left_out = グループが多すぎるため、サインインサービスが送れませんでした。管理者は代わりにアプリロールを送れます。
no_role_at_provider = サインインサービスはあなたを知っていますが、ここでの権限がありません。管理している人に聞いてください。
no_site_at_provider = サインインサービスが与える権限に拠点がありません。管理している人に聞いてください。
too_many_sites_at_provider = サインインサービスが与える拠点は{ $sites }件ですが、ここでは{ $most }件までです。
denied_by_provider = サインインサービスに拒否されました。
provider_unavailable = サインインサービスが正しく応答していません。再試行するか、パスワードでサインインしてください。
no_provider = ここではパスワードでサインインします。サインインサービスは設定されていません（SSO_ISSUER）。
try_over = このサインインは別のブラウザーで始まったか、時間が経ちすぎたか、すでに終わっています。サインインし直してください。
person_disabled = あなたのアカウントは無効です。管理者に聞いてください。
cross_site_request = セッション Cookie による変更にはヘッダー X-Requested-With: signage が必要で、このサーバーのページから送る必要があります。
origin_of_another_site = ヘッダー Origin がこのサーバーのものではありません。
request_of_another_site = このリクエストは別のサイトから来たとブラウザーが示しています。
password_change_required = まず新しいパスワードを設定してください。
second_factor_required = パスワードは合っています。コード（アプリの6桁の数字か回復コード）も入力してください。
second_factor_wrong = コードが違うか、使用済みか、今のものではありません。
second_factor_setup_required = まず二要素認証を設定してください。
second_factor_unknown = 二要素認証は設定されていません。
second_factor_stands = 二要素認証はすでに設定されています。先に解除してください。
signing_key_missing = 二要素認証には設定 SIGNING_KEY が必要ですが、ここでは設定されていません。
too_many_attempts = 失敗が多すぎます。しばらく待ってから試してください。
password_changed_lately = ディスプレイがパスワードを変えられるのは1分に1回までです。
signed_in_at_provider = サインインサービスでサインインしています。パスワードと二要素認証はそちらで管理されます。
signed_in_by_proxy = 前段のプロキシでサインインしています。パスワードとサインアウトはそちらで管理されます。
for_people_only = これはサインインした人のためのものです。API トークンは DELETE /api/tokens/<id> で終了します。
password_changed_elsewhere = その間に別の場所でパスワードが変更されました。サインインし直してください。
password_not_accepted = 新しいパスワードが短すぎるか、推測しやすいか、前と同じです。
password_length = パスワードは{ $shortest }～{ $longest }文字です。
password_as_before = 新しいパスワードが今のものと同じです。
password_guessed = このパスワードは最初に試されるものの1つです。よくある言葉、自分の名前、年、繰り返し、キーボードの並びがほとんどです。自分の言葉を加えてください。
password_leaked = このパスワードは漏えいしたパスワードの一覧にあり、攻撃者が最初に試します。
session_not_found = この番号のセッションはないか、すでに終わっています。
site_exists = この名前の拠点がすでにあります。1つにまとめると指定するか、別の名前にしてください。
site_not_found = この拠点にはディスプレイがなく、この名前を使うものもありません。
token_not_found = この番号の API トークンはありません。
expiry_in_the_past = 期限の時刻はもう過ぎています。
expiry_too_far = トークンの有効期間は最長10年です。無期限にするには時刻を空欄にしてください。
user_not_found = この番号のユーザーはいません。
username_taken = この名前はすでに使われています（大文字と小文字の違いだけかもしれません）。
last_admin = サインインできる最後の管理者です。先に別の管理者が自分のパスワードを設定する必要があります。
another_username = アカウントのユーザー名が送られたものと違います。何も変更していません。
own_account = 自分のアカウントに対しては、別の管理者が行う必要があります。

# ディスプレイとコマンド
client_not_found = この UUID のディスプレイはありません。
clients_unknown = 存在しないディスプレイが含まれています。
some_clients_unknown = そのうち{ $count }台のディスプレイは存在しません。
client_deleted = このディスプレイは削除されました。その UUID は再び使われません。
client_not_listening = このディスプレイは接続されていないため届きませんでした。オンラインになったら再試行してください。
enrolment_code_invalid = この登録コードは無効か、使用済みか、期限切れです。新しいものを取得してください。
failure_changed = このページを読み込んだ後、ディスプレイに再び障害が起きました。先に新しい障害を確認してください。
not_capable = このディスプレイは対応していません。
command_not_found = この番号のコマンドはありません。
command_in_flight = このディスプレイにはすでに実行中のコマンドがあります。終わるのを待つか、取り消してください。
command_locked_out = 最近再起動が送られたため、ディスプレイが戻るまでの間ロックされています。
command_not_cancellable = コマンドはすでにディスプレイに届いた可能性があるため、取り消せません。
ttl_out_of_range = ttl_seconds は{ $least }～{ $most }でなければなりません。
command_batch_not_found = この番号の一括コマンドはありません。
command_batch_over = 一括コマンドは終わっています。一時停止、再開、中止はできません。
invalid_waves = 段階は20個までの数か10%のような割合で、最後は rest にできます。上限は数か割合です。
no_clients = 該当するディスプレイがないため、送るものがありません。
too_many_clients = 一括コマンドは10,000台までです。絞り込んでください。
filter_unknown = このバージョンでは次の絞り込みは使えません: { $names }。
status_link_not_found = この番号のステータスページへのリンクはありません。
status_link_invalid = このリンクは無効です。
incident_not_found = この番号のインシデントはありません。
screenshot_not_found = この番号の画像はありません。
expectation_not_found = この番号の想定はありません。
screenshot_not_wanted = この画像は待たれていません。求められていないか、すでに終わったか、障害が知られていません。
screenshot_too_large = 画像は{ $limit_bytes }バイトまでです。
screenshots_off = この拠点の画面は誰も見られない設定です。管理者が変更できます。
jpeg_incomplete = 送られたものは完全な JPEG ではありません。
broker_unavailable = MQTT ブローカーに接続できません。
broker_unreachable = MQTT ブローカーに接続できません（{ $error }）。
broker_busy = ブローカーへの接続がほかのメッセージで使用中でした。
broker_silent = MQTT ブローカーが接続に応答しませんでした。
broker_refused_connection = MQTT ブローカーが接続を拒否しました（理由: { $reason }）。
broker_refused_message = MQTT ブローカーがメッセージを拒否しました（理由: { $reason }）。
broker_without_qos = MQTT ブローカーは QoS 0 にしか対応していません。
no_time_to_publish = 送信する時間が残っていませんでした。
publish_unanswered = MQTT ブローカーが応答しませんでした。メッセージは後で届く可能性があります。

# 予約と抑止時間
schedule_not_found = この番号の予約コマンドはありません。
already_taken = { $by } がすでに対応中です。
nothing_to_take = すでに終わっており、対応するものはありません。
schedule_over = 予約コマンドは終わっており、次の時刻はありません。
schedule_times_refused = 予約コマンドにこの時刻は使えません。
schedule_once_or_weekly = 予約コマンドは一度だけか、毎週かのどちらかです。
schedule_local_time = 時刻は03:00のように指定してください。
schedule_until_too_far = 最終日は5年以内でなければなりません。
schedule_has_no_time = 最終日までに実行される時刻がありません。
schedule_once_takes_no_weekly = 時刻と最終日は曜日と一緒に指定します。一度だけの予約には使えません。
schedule_at_in_future = 時刻は5年以内の未来でなければなりません。
schedule_stays_as_it_is = 一度だけと毎週は切り替えられません。取り消してから新しく予約してください。
too_many_schedules = これからの予約が多すぎて追加できません。先にいくつか取り消してください。
time_zone_unknown = そのタイムゾーンはありません。
zone_unknown = タイムゾーン「{ $name }」はありません。Europe/Rome のように指定してください。
quiet_time_not_found = この番号の抑止時間はありません。
quiet_time_over = 抑止時間は終わったか、誰かが終わらせました。新しく作ってください。
quiet_times_refused = 抑止時間にこの時刻、理由、または選択は使えません。
quiet_start_too_far = 開始は5年以内でなければなりません。
quiet_hours_need_zone = 時間帯とタイムゾーンは一緒に指定します。
quiet_end_before_start = 終了は開始より後でなければなりません。
quiet_end_in_past = 終了は未来でなければなりません。
quiet_end_too_far = 終了は5年以内でなければなりません。
quiet_too_long = { preset_named }は最長{ $days }日です。
quiet_only_of_custom = 抑止する内容は「その他」のときに、そのときだけ選びます。
quiet_needs_reason = { preset_named }には理由が必要です。
quiet_needs_end = { preset_named }には終了が必要です。忘れられてもそこで終わります。
quiet_takes_no_hours = { preset_named }に時間帯は指定できません。
quiet_clock = 「{ $text }」は09:30のような時刻ではありません。
quiet_hours_need_days = 時間帯にはそれぞれ曜日が必要です。
quiet_hours_length = 毎週の時間帯は開始より後、{ $days }日以内に終わらなければなりません。
quiet_has_begun = すでに始まっているため、開始は変更できません。
leave_out_has_no_end = 「除外」に終了はなく、誰かが終えるまで続きます。「保留」には終了を指定できます。
opening_hours_of_many = 営業時間はフリート、拠点、タグのいずれかに対するものです。
opening_hours_need_hours = 営業時間には時間帯が必要です。
opening_hours_exist = これらのディスプレイにはすでに営業時間があります。それを変更してください。
too_many_opening_hours = 営業時間の時間帯は{ $most }個までです。
opening_hours_need_days = 営業時間の各時間帯には、曜日をそれぞれ1回ずつ指定してください。
opening_hours_are_times = 営業時間は08:00のような時刻です。終わりは24:00にできます。
opening_hours_have_length = 営業時間の始まりと終わりは違う時刻でなければなりません。終日は00:00から24:00です。

# ファイル
event_media_not_found = この番号のメディアはありません。
event_media_file_missing = ファイルは記録にありますが、メディアの保存先にありません。
conversion_not_found = このメディアは変換されていません。
converted_path_unknown = このパスに PDF はありません。
converted_file_missing = PDF は記録にありますが、メディアの保存先にありません。もう一度変換してください。
thumbnail_not_found = このメディアには最初のページの画像がありません。プレゼンテーションでないか、まだ変換されていません。
not_convertible = PDF に変換できるのはプレゼンテーションだけです。
not_a_presentation = ファイルの中身が、名前の示す種類のプレゼンテーションではありません。
presentation_damaged = プレゼンテーションが壊れています。
presentation_packed_oddly = プレゼンテーションが形式で認められない方法で圧縮されています。
presentation_has_doctype = プレゼンテーションに文書型定義が含まれています。
encrypted = プレゼンテーションがパスワードで保護されています。パスワードなしで保存して、もう一度アップロードしてください。
too_large_unpacked = プレゼンテーションは展開すると大きすぎます。
presentation_has_too_many_parts = プレゼンテーションの部品が{ $most }個を超えています。
presentation_too_large = プレゼンテーションは展開すると { $gibibytes } GiB を超えます。
presentation_too_deep = プレゼンテーションの要素の入れ子が{ $most }段を超えているか、要素の数が{ $millions }00万個を超えています。
presentation_part_too_large = プレゼンテーションの一部が、展開すると { $mebibytes } MiB を超えます。
presentation_picture_too_large = プレゼンテーションの画像の1つが{ $megapixels }メガピクセルを超えています。
picture_has_too_many_pixels = 画像が{ $megapixels }メガピクセルを超えています。
name_not_accepted = ファイルには人が読める名前が必要です。
no_slides = プレゼンテーションにスライドがありません。
every_slide_hidden = このプレゼンテーションのスライドはすべて非表示です。
unsupported_media_type = この種類のファイルは受け付けられません。
export_keynote = Keynote ファイルを PowerPoint に書き出して、それをアップロードしてください。
accepted_names = 受け付けるファイルの拡張子: { $accepted }。
content_is_another = ファイル名は { $kind } ですが、中身が違います。
pdf_without_end = PDF の終わりがありません。途中で切れているか、PDF ではありません。
picture_without_size = 画像の大きさが分かりません。途中で切れているか、画像ではありません。
upload_too_large = ファイルが大きすぎてアップロードできません。
file_too_large = ファイルは{ $limit_bytes }バイトまでです。
upload_cut_off = アップロードが途中で切れたか、形式が正しくありません。何も保存していません。
upload_without_name = アップロードされたファイルに名前がありません。
one_file_at_a_time = 一度に1ファイルだけ送れます。フォームに2つ目があったため、何も保存していません。
file_field_missing = ファイルはフォームの項目 file に入れてください。
upload_filename_odd = Upload-Metadata: ファイル名が Base64 の UTF-8 ではありません。
upload_filename_missing = Upload-Metadata にファイル名（filename）が必要です。
upload_not_found = そのアップロードはありません。終了したか、1日以内に完了しませんでした。
upload_offset_conflict = アップロードは別のバイト位置から続きます。
upload_locked = ファイルの結合中か、別のリクエストが書き込み中です。位置を確認してそこから続けてください。
upload_part_lost = メディアの保存先でこのアップロードの一部が失われました。ファイルを送り直してください。
too_many_requests = 一度に届いたリクエストが多すぎます。少し待って再試行してください。
busy = ほかのリクエストが多数実行中です。少し待って再試行してください。
too_many_uploads = ほかのアップロードが実行中です。少し待って再試行してください。
volume_full = メディアの保存先がいっぱいか、書き込めません。何も保存していません。

# 通知チャンネル
channel_not_found = この番号のチャンネルはありません。
channel_name_taken = 同じ名前のチャンネルがすでにあります。
channel_address_refused = チャンネルにこのアドレスは使えません。
channel_refused = チャンネルにこの設定は使えません。
apprise_refused = Apprise がこのアドレスを理解できないか、人に届くアドレスではありません。
apprise_address = Apprise のアドレスは mailto:// や slack:// のようにサービス名で始まります。
webhook_address = Webhook のアドレスは http:// か https:// とホスト名です。
channel_hours_need_weekday = 時間帯には曜日が必要です。
only_webhooks_signed = 署名されるのは Webhook へのメッセージだけです。
signing_secret_short = 署名用の秘密は{ $shortest }文字以上でなければなりません。

role_wanted = { $needed ->
    [viewer] 閲覧者
    [operator] オペレーター
   *[admin] 管理者
}

role_held = { $role ->
    [viewer] 閲覧者
    [operator] オペレーター
   *[admin] 管理者
}

preset_named = 「{ $preset ->
    [hold] 保留
    [snooze] 通知停止
    [maintenance] メンテナンス
    [opening_hours] 営業時間
    [leave_out] 除外
   *[custom] その他
}」
