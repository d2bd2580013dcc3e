unitWords-second = 秒
unitWords-minute = 分
unitWords-hour = 時間
unitWords-day = 日
unitWords-space = {""}
unitWords-ago = { $age }前
