/** @type {typeof import("../setting_meanings.js").settingMeanings} */
export const settingMeanings = {
  DEPLOYMENT_MODE: "サーバーの実行環境。local ではループバックだけで待ち受けます",
  MQTT_URL: "サーバー側のプログラムが接続するブローカーのアドレス",
  MQTT_USERNAME: "このプログラムのブローカーでのユーザー名",
  MQTT_TOPIC_ROOT: "すべてのトピックの最上位の階層",
  QUEUE_URL: "タスクキュー「conversions」を持つ Cloud Tasks サービス",
  CONVERTER_URL: "プレゼンテーションを変換するサービスのアドレス",
  CONVERT_WORKER_URL: "タスクキューが変換を届ける先。その ID トークンの対象（audience）でもあります",
  SCHEDULER_TICK_URL: "スケジューラーが定期処理を呼び出す先。その ID トークンの対象（audience）でもあります",
  OIDC_ISSUER: "タスクキューとスケジューラーの ID トークンの発行者",
  TASKS_SERVICE_ACCOUNT: "タスクキューの ID トークンに必要なメールアドレス",
  SCHEDULER_SERVICE_ACCOUNT: "スケジューラーの ID トークンに必要なメールアドレス",
  IAP_AUDIENCE:
    "/projects/<番号>/global/backendServices/<ID>: Identity-Aware Proxy の後ろのバックエンド。空ならプロキシなし",
  SSO_ISSUER: "サインインサービス（OpenID Connect）。サービスが名乗るとおりに指定します",
  SSO_NAME: "ボタンに表示するサインインサービスの名前",
  SSO_CLIENT_ID: "サインインサービスでのこのサーバーのクライアント ID",
  SSO_SCOPES: "サインインサービスに求めるスコープ",
  SSO_ROLE_CLAIM: "権限を示すクレーム。ドットでオブジェクトの中を指します",
  SSO_ROLES: "そのクレームの値から権限への JSON オブジェクト。最も高い権限が有効です",
  SSO_SITES_CLAIM: "拠点を示すクレーム。「*」はすべて。空ならすべて",
  MEDIA_ROOT: "ファイルを置くボリュームのマウント先。PDF は converted/ の下に入ります",
  CRASH_RECOVERY_ENABLED:
    "異常なディスプレイやそのプレーヤーを自動で再起動するか。コマンドの期限切れはどちらの場合も処理されます",
  CLIENT_AUTO_REGISTER: "ブローカーの有効なログインから最初のメッセージが届いたとき、ディスプレイを登録するか",
  HEARTBEAT_STALE_SECONDS:
    "これだけ通信がないと「応答なし」とみなします。90以上で、ディスプレイ自身の間隔の3倍を下回ることはありません",
  COMMAND_LOCKOUT_SECONDS: "「プレーヤー再起動」か「再起動」の後、同じディスプレイに次の再起動を送らない時間",
  LOG_RETENTION_DAYS: "レベルがデバッグ、情報、警告のログの保存期間。エラーと重大のログはその3倍",
  HISTORY_RETENTION_DAYS: "コマンド、自動復旧、インシデント、抑止時間、ディスプレイの変更、監査ログの保存期間",
  UPLOAD_LIMIT_BYTES: "アップロードできるファイルの最大サイズ",
  CONVERSION_DEADLINE_SECONDS: "LibreOffice が1つのファイルの変換に使える時間。最長20分",
  PUBLIC_URL: "通知に載せる、このダッシュボードのアドレス。空ならリンクなし",
  OUTBOUND_PROXY:
    "Webhook・チャット・サインインサービスへの接続に使うプロキシ（http://[ユーザー:パスワード@]ホスト:ポート）。メールは直接送ります",
  NOTIFICATION_PRIVATE_ADDRESSES:
    "プライベートアドレスと、クラウド以外ではループバックへの通知を許すか。auto: クラウドでは許しません",
  SECOND_FACTOR_REQUIRED:
    "最初に二要素認証の設定が必要なユーザー（nobody: なし、admins: 管理者、everybody: 全員）。設定は誰でもできます",
  LEAKED_PASSWORDS_FILE: "拒否する流出パスワードの SHA-1 を1行に1つ並べ、整列したファイル。空なら一覧なし",
  TRUSTED_PROXY_HOPS: "API の手前で X-Forwarded-For に追記する、信頼できるプロキシの数。0: なし",
  DISPLAYS_MQTT_URL: "登録コードを使ったディスプレイに伝えるブローカーのアドレス。mqtts なら TLS",
  DISPLAYS_CA_FILE: "ディスプレイが信頼すべき CA の PEM ファイル。空なら公開 CA",
  DISPLAYS_PASSWORD_FILE: "ディスプレイのログイン。broker_accounts が書き、ブローカーが読みます",
  SERVICES_PASSWORD_FILE:
    "mosquitto_passwd 形式の、サーバー側のプログラムのログイン。broker_logins が使います。空ならブローカー自身が持っています",
  BROKER_LOGINS_PORT: "外部のブローカーに broker_logins が応答するループバックのポート",
  BROKER_CRASHES_FILE: "ブローカーのクラッシュを記録する場所。空なら記録なし",
  CERTIFICATE_DOORS: "broker_accounts が証明書を確認するポート。例: displays=127.0.0.1:8883 people=127.0.0.1:443",
  BRIDGE_HEALTH_PORT: "ブリッジが /healthz、/readyz、/metrics に応答するポート",
  DATABASE_POOL_SIZE: "1プロセスが維持する Postgres への接続数",
  DATABASE_PREPARED_STATEMENTS:
    "接続でプリペアドステートメントを保持するか。トランザクションモードのプーラーの後ろでは false",
};
