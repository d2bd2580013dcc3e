renameWords-link = { $site } の名前を変更…
renameWords-title = { $site } の名前を変更
renameWords-how = ディスプレイ、権限、チャンネル、抑止時間、予約コマンド、ステータスページの名前がすぐに変わります。
renameWords-to = 新しい名前
renameWords-go = 変更する
renameWords-merge = 拠点 { $site } はすでにあります。2つを1つにまとめます。営業時間はその拠点のものになります。元には戻せません。
renameWords-atProvider = サインインサービスは、次のサインインで{ $n }人に古い名前を渡します。そこでも拠点の名前を変更してください。変更しないと、ディスプレイが見えなくなります。
