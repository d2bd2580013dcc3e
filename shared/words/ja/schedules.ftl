scheduler_late = スケジューラーが止まっていました。{ $minutes }分遅れました。
changed_before = スケジューラーの実行前に、{ who_did }予約を変更しました。
cancelled_before = スケジューラーの実行前に、{ who_did }予約を取り消しました。

schedule_cancelled = { who_did }取り消しました。
schedule_next = 次回: { at_long }。
schedule_held = 保留中です。
schedule_held_back = 一括コマンドが一時停止中のため、保留中です。
schedule_running = コマンドを実行中です。
schedule_missed = { at_long }は実行されませんでした。
schedule_done = { at_long }に実行しました。
