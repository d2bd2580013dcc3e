command_cancelled = cancelled by { by_whom }
command_ended = ended by { by_whom }: { $reason }
command_cause = { command_cause_long }.
command_cause_long = { $cause ->
    [no_ack] The display did not acknowledge it in time
    [no_subscriber] The display was not connected to the broker
    [never_published] The broker could not be reached in time, so it was never sent
    [no_result] The display took it, but nothing showed in time that it worked
    [publish_denied] The broker did not allow it. Tell the person who runs the service
    [screen_did_not_switch] The screen is as before
    [screen_does_not_say] The screen does not say whether it was switched
    [reboot_did_not_happen] The display kept running without a reboot
    [precondition_failed] The display has rebooted or restarted since the command was made, so it did nothing
    [no_journal] The display's disk takes no writes, so it began nothing. Replace its card
    [unknown_action] The display does not know this command: its client is too old
    [not_capable] The display cannot do this
    [unsupported_version] The display does not understand the command: its client is too old
    [busy] The display was busy with another command
    [expired] The display came to it too late, so it did nothing
    [interrupted] The display went down before it was done
    [client_deleted] The display was deleted in the meantime
    [login_revoked] The display's login was revoked in the meantime
    [rights_lost] Whoever asked for it may not send it there any more
    [no_picture] The display said that it sent a picture, but none arrived
    [already_rebooted] The display had already restarted by itself
   *[other] { $cause }
}
