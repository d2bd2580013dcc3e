pages_expected = { $any_page ->
    [yes] どのページにも一致します。
   *[no] { $seen ->
        [0] いまページを伝えているディスプレイはありません。
       *[other] { $matching ->
            [0] いま見えている{ $seen }台のどれにも一致しません。
           *[other] いま見えている{ $seen }台のうち{ $matching }台に一致します。
        }
    }
}
