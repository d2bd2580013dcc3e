at_site = { $site_is ->
    [some] 拠点 { $site } で、
   *[none] {""}
}
there = { $site_is ->
    [some] この拠点の
   *[none] {""}
}

breaker_open = { at_site }{ $seen }台中{ $stale }台が応答していません。これほど同時なら、原因はこちら側かもしれません。応答のないものが{ $percent }%を下回るか、オペレーターがブレーカーを解除するまで、{ there }応答のないディスプレイは再起動しません。
breaker_closing = { at_site }多くのディスプレイが同時に応答しなくなりました。原因はこちら側だったかもしれません。いまは十分に減りました。この状態が{ seconds_long }続くか、オペレーターがブレーカーを解除するまで、{ there }応答のないディスプレイは再起動しません。
breaker_closed = { breaker }が元に戻りました。応答のないディスプレイが十分に減りました。
breaker_released = { who_did }{ breaker }を解除しました。それ以前の無応答は数えません。
breaker = { $site_is ->
    [some] 拠点 { $site } のブレーカー
   *[none] フリートのブレーカー
}

screens_open = { at_site }{ $telling }画面中{ $failing }画面が真っ黒か真っ白、フリーズ、またはページのない状態です。これほど同時なら、原因は表示する内容か電源です。これが減るか、オペレーターがブレーカーを解除するまで、画面を理由に{ there }プレーヤーを再起動しません。
screens_closed = { screens_breaker }が元に戻りました。異常な画面が十分に減りました。
screens_released = { who_did }{ screens_breaker }を解除しました。それ以前の画面の異常は数えません。
screens_breaker = { $site_is ->
    [some] 拠点 { $site } の画面のブレーカー
   *[none] フリートの画面のブレーカー
}

more_sites_held = ほか{ $sites }拠点でも見合わせています。
