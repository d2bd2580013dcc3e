problemWords-refused-command_in_flight = このディスプレイにはすでに実行中のコマンドがあります。
problemWords-refused-not_capable = このディスプレイは対応していません。
problemWords-refused-forbidden = あなたの権限ではできません。ページを開いた後に変わった可能性があります。管理者に聞いてください。
problemWords-refused-internal_error = サーバーで問題が起きました。再試行し、また起きるようならサーバーの運用者に連絡してください。
problemWords-refused-api_timeout = サーバーが時間内に応答しませんでした。再試行の前に、実行されたか確認してください。
problemWords-unreachable = サーバーが応答しません。少し待って再試行してください。
problemWords-reference = 参照番号 { $of }。
