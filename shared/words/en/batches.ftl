too_many_unproven = { $unproven } of { $sent } { $sent ->
    [one] command
   *[other] commands
} ended unproven{ $excused ->
    [0] {""}
   *[other] , { $excused } of them excused
}, more than { $limit }{ $share ->
    [yes] %
   *[no] {""}
}; { was_not_sent }.
was_not_sent = { $waiting } { $waiting ->
    [one] was
   *[other] were
} not sent
wave_proves_nothing = No client of wave { NUMBER($wave) } could be sent its command, so it proves nothing.
members_wait = { $members } { $members ->
    [one] display waits
   *[other] displays wait
} until { $at_is ->
    [some] { at_long }
   *[none] somebody ends it
}: a quiet time holds batches back.

maker_may_not = { by_whom } may not send this any more: { displays_n } got nothing.
not_at_makers_sites = { displays_n } got nothing: no longer at a site of { by_whom }.
batch_paused = Paused by { by_whom }.
batch_aborted = Aborted by { by_whom }: { $not_sent } { $not_sent ->
    [one] was
   *[other] were
} not sent, { $withdrawn } { $withdrawn ->
    [one] was
   *[other] were
} withdrawn.
