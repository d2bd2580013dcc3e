// Made by dashboard/generate_types.py from docs/openapi.json: do not edit.
// Times are RFC 3339 in UTC.

/** A failure that somebody acknowledged. */
export type AcknowledgedFailure = {
  acknowledged_at: string;
  acknowledged_by: string;
  name: string;
  site: string | null;
  unit: string | null;
  uuid: string;
};

/** A picture that a command asked for. */
export type AnswerPicture = {
  age_seconds?: number;
};

/** The six digits that the app shows. */
export type AppCode = {
  code: string;
};

/** One change, done or refused. */
export type AuditEntry = {
  action: string;
  actor: string;
  at: string;
  details: Record<string, unknown>;
  id: number;
  request_id: string | null;
  result: string;
  target: string;
};

/** Which lines to list; each filter is exact. */
export type AuditQuery = {
  action?: string | null;
  actor?: string | null;
  cursor?: string | null;
  limit?: number;
  target?: string | null;
};

/** A batch of commands. `state_reason` tells people why it is paused or aborted, or that members wait. */
export type Batch = {
  action: string;
  created_at: string;
  finished_at: string | null;
  id: string;
  max_unproven: string;
  reason: string;
  requested_by: string;
  state: BatchState;
  state_reason: string | null;
  wave: number;
  waves: number;
};

/** A batch with its counts. `result` is null until it is over; then `succeeded` (all), `partial` or `failed`. */
export type BatchDetails = {
  action: string;
  by_wave: Array<WaveView>;
  clients: number;
  created_at: string;
  finished_at: string | null;
  id: string;
  max_unproven: string;
  members: PageBatchMember;
  outcomes: Record<string, number>;
  reason: string;
  requested_by: string;
  result: string | null;
  state: BatchState;
  state_reason: string | null;
  states: Record<string, number>;
  unproven: number;
  wave: number;
  waves: number;
};

/** A member with its client's name; null when there is no such client. */
export type BatchMember = {
  command: MemberCommand | null;
  decided_at: string | null;
  lockout_until: string | null;
  name: string | null;
  outcome: MemberOutcome;
  uuid: string;
  wave: number | null;
};

/** The state of a batch: many commands from one request. */
export type BatchState = "aborted" | "finished" | "paused" | "running";

/** Whether a breaker stops recovery because too many displays went silent at once, and at which sites. A site that is null stands for the whole fleet. */
export type Breaker = {
  open: boolean;
  sites: Array<string | null>;
  why: string | null;
};

/** Whether the bridge hears the fleet. */
export type Bridge = {
  silent_since: string | null;
  state: string;
};

/** What the leading bridge last wrote about itself. */
export type BridgeShown = {
  canary_at: string | null;
  connected_since: string | null;
  counters: Record<string, unknown>;
  epoch: number;
  instance: string | null;
  last_commit_at: string | null;
  silent_since: string | null;
  state: string;
};

/** Where displays connect; `ca_pem` is null when a public authority signed the certificate. */
export type BrokerAddress = {
  ca_pem: string | null;
  host: string;
  port: number;
  tls: boolean;
};

/** The caller as the service knows them. */
export type Caller = {
  kind: PrincipalKind;
  name: string;
  role: Role;
  sites: Array<string> | null;
};

/** The fields to change; once stays once, and weekly stays weekly. */
export type ChangedSchedule = {
  at?: string;
  local_time?: string;
  max_unproven?: number | string;
  reason?: string;
  time_zone?: string;
  until?: string | null;
  waves?: Array<number | string>;
  weekdays?: Array<Weekday>;
};

/** Changes of a channel; fields that are left out stay. Null removes `signing_secret`, `sites` or `hours`. */
export type ChannelChanges = {
  critical_passes?: boolean;
  delay_seconds?: number;
  enabled?: boolean;
  events?: Array<NotificationEvent>;
  hours?: HoursBody | null;
  language?: string;
  name?: string;
  signing_secret?: string | null;
  sites?: Array<string> | null;
  url?: string;
};

/** The hours in which a channel gets messages. `begin` and `end` are local times. */
export type ChannelHours = {
  begin: string;
  end: string;
  time_zone: string;
  weekdays: Array<Weekday>;
};

/** How a channel sends notifications. */
export type ChannelKind = "apprise" | "webhook";

/** The result of a test message, and the channel, which shows the result. */
export type ChannelTest = {
  channel: NotificationChannel;
  delivered: boolean;
  duration_ms: number;
  words: string;
};

/** A channel that is not saved, to try: its fields mean the same as when it is added. */
export type ChannelTrial = {
  kind: ChannelKind;
  language?: string;
  name: string;
  signing_secret?: string | null;
  url: string;
};

/** The result of checking one part. */
export type Check = {
  ok: boolean;
  why: string;
};

/** A filter as in `GET /api/clients`, with at least one field. */
export type ChosenClients = {
  q?: string | null;
  screen_failed?: boolean | null;
  service_failed?: boolean | null;
  site?: string | null;
  stale?: boolean | null;
  status?: ClientStatus | null;
  tag?: string | null;
  version?: string | null;
};

/** The client after the acknowledgement; `cleared` is false when it had no failure. */
export type ClearedFailure = {
  app_instance: string | null;
  app_version: string | null;
  boot_id: string | null;
  capabilities: Array<string> | null;
  cleared: boolean;
  code_until: string | null;
  counter_went_back_at: string | null;
  created_at: string;
  expected: Expectation | null;
  health: Health | null;
  hostname: string | null;
  incident: OpenIncident | null;
  interval_seconds: number | null;
  ip: string | null;
  keeps_hours: boolean | null;
  last_heartbeat_at: string | null;
  limits: Array<PassedLimit>;
  lockout_until: string | null;
  log_level: string | null;
  mqtt_last_disconnect_at: string | null;
  mqtt_reconnect_count: number | null;
  name: string;
  notes: string;
  open_command: OpenCommand | null;
  os: string | null;
  page: SeenPage | null;
  presence: Presence;
  presence_at: string | null;
  process_status: ProcessStatus;
  quiet_times: Array<QuietNowView>;
  recovery: Recovery | null;
  refused: Array<RefusedMessages>;
  registered_by: string;
  screen_failed_since: string | null;
  screen_health: ScreenHealthStatus;
  screen_off_by: ScreenOffBy | null;
  service_failed_at: string | null;
  service_failed_cleared_at: string | null;
  service_failed_cleared_by: string | null;
  service_failed_unit: string | null;
  service_mended_at: string | null;
  shared_login_seen_at: string | null;
  site: string | null;
  status: ClientStatus;
  status_since: string;
  tags: Array<string>;
  unsteady_losses: number | null;
  uuid: string;
};

/** A client as every list shows it. `recovery` is null while it is healthy. `service_mended_at`: when the recorded service failure was over: the service fails no more, but nobody has acknowledged it. `screen_failed_since`: since when its screen is as `screen_health` says, if that is a failure; else null. `mqtt_last_disconnect_at` comes from the display, by its own clock. `shared_login_seen_at`: when two devices used its login. */
export type Client = {
  app_version: string | null;
  hostname: string | null;
  ip: string | null;
  last_heartbeat_at: string | null;
  limits: Array<PassedLimit>;
  lockout_until: string | null;
  mqtt_last_disconnect_at: string | null;
  mqtt_reconnect_count: number | null;
  name: string;
  open_command: OpenCommand | null;
  presence: Presence;
  process_status: ProcessStatus;
  recovery: Recovery | null;
  screen_failed_since: string | null;
  screen_health: ScreenHealthStatus;
  service_failed_at: string | null;
  service_failed_unit: string | null;
  service_mended_at: string | null;
  shared_login_seen_at: string | null;
  site: string | null;
  status: ClientStatus;
  status_since: string;
  tags: Array<string>;
  uuid: string;
};

/** A client as its own page shows it. `quiet_times`: those that apply to it now, the one that ends last first. `unsteady_losses`: how often the client lost the broker within the last hour; null below three times, or in an incident. `code_until`: when its unused enrolment code expires or expired; null without a code. `screen_off_by`: whose plan it is that the screen is off; null: nobody's. `keeps_hours`: whether it keeps the opening hours that it is meant to keep; null: it is meant to keep none. `counter_went_back_at`: when it began again to number its messages from 1 (a restored image, a write filter); log lines of that time may be stored twice. `page`: what is on its screen, by `health`; null: nobody sees it. `expected`: what should be there. */
export type ClientDetails = {
  app_instance: string | null;
  app_version: string | null;
  boot_id: string | null;
  capabilities: Array<string> | null;
  code_until: string | null;
  counter_went_back_at: string | null;
  created_at: string;
  expected: Expectation | null;
  health: Health | null;
  hostname: string | null;
  incident: OpenIncident | null;
  interval_seconds: number | null;
  ip: string | null;
  keeps_hours: boolean | null;
  last_heartbeat_at: string | null;
  limits: Array<PassedLimit>;
  lockout_until: string | null;
  log_level: string | null;
  mqtt_last_disconnect_at: string | null;
  mqtt_reconnect_count: number | null;
  name: string;
  notes: string;
  open_command: OpenCommand | null;
  os: string | null;
  page: SeenPage | null;
  presence: Presence;
  presence_at: string | null;
  process_status: ProcessStatus;
  quiet_times: Array<QuietNowView>;
  recovery: Recovery | null;
  refused: Array<RefusedMessages>;
  registered_by: string;
  screen_failed_since: string | null;
  screen_health: ScreenHealthStatus;
  screen_off_by: ScreenOffBy | null;
  service_failed_at: string | null;
  service_failed_cleared_at: string | null;
  service_failed_cleared_by: string | null;
  service_failed_unit: string | null;
  service_mended_at: string | null;
  shared_login_seen_at: string | null;
  site: string | null;
  status: ClientStatus;
  status_since: string;
  tags: Array<string>;
  unsteady_losses: number | null;
  uuid: string;
};

/** The fields of a client that people write; a field that is left out stays unchanged. */
export type ClientFacts = {
  name?: string;
  notes?: string;
  site?: string | null;
  tags?: Array<string>;
};

/** Which clients to list. */
export type ClientQuery = {
  cursor?: string | null;
  limit?: number;
  q?: string | null;
  screen_failed?: boolean | null;
  service_failed?: boolean | null;
  site?: string | null;
  stale?: boolean | null;
  status?: ClientStatus | null;
  tag?: string | null;
  version?: string | null;
};

/** What is quiet for one client now, and why. `until`: when the last of it ends; null: when somebody ends it. `items`: at most 100, the one that ends last first. */
export type ClientQuietTimes = {
  items: Array<QuietTime>;
  quiet: Array<Quiet>;
  until: string | null;
  uuid: string;
  words: string;
};

/** What recovery does about one client now, and why. `recovery` is null while the client is healthy. */
export type ClientRecovery = {
  breaker: Breaker;
  breaker_events: Array<RecoveryEvent>;
  bridge: Bridge;
  enabled: boolean;
  events: Array<RecoveryEvent>;
  recovery: Recovery | null;
  tried: Tried;
  uuid: string;
};

/** The shown state of a client: stored with `status_since`, one change row per change. */
export type ClientStatus = "crashed" | "late" | "running" | "stale" | "starting" | "stopped" | "unknown";

/** How much one client logged, by level. */
export type ClientSummary = {
  counts: Record<string, number>;
  last_error_at: string | null;
  name: string;
  uuid: string;
};

/** A time in which the screen was meant to be off. */
export type ClosedTime = {
  from: string;
  to: string;
};

/** A one-time code to type at the display. */
export type Code = {
  code: string;
  expires_at: string;
};

/** A command with the times of its steps. */
export type Command = {
  acked_boot_id: string | null;
  action: string;
  client_uuid: string;
  confirmed_by: ConfirmedBy | null;
  created_at: string;
  cuts_through: string | null;
  expires_at: string;
  finished_at: string | null;
  id: string;
  if_boot_id: string | null;
  late_at: string | null;
  late_state: string | null;
  outcome_reason: string | null;
  outcome_words: string | null;
  reason: string;
  received_at: string | null;
  requested_by: string;
  result_deadline: string | null;
  running_at: string | null;
  sent_at: string | null;
  source: string;
  state: CommandState;
  trace_id: string | null;
};

/** What a command makes a display do. */
export type CommandAction = "reboot_host" | "restart_app" | "screen_off" | "screen_on" | "screenshot" | "shutdown_host";

/** A schedule. `next_at` is null when no time is left; `words` says its state, for people. `filter`: whom it is for, found anew at each time; null: the `named` clients that it names. */
export type CommandSchedule = {
  action: string;
  at: string | null;
  cancelled_at: string | null;
  cancelled_by: string | null;
  created_at: string;
  created_by: string;
  empty_sites: Array<string>;
  filter: Record<string, unknown> | null;
  id: string;
  last: ScheduleTime | null;
  local_time: string | null;
  max_unproven: string;
  named: number;
  next_at: string | null;
  reason: string;
  state: ScheduleState;
  time_zone: string;
  ttl_seconds: number | null;
  until: string | null;
  waves: Array<number | string>;
  weekdays: Array<Weekday>;
  words: string;
};

/** The state of a command. It only moves to a higher rank; a terminal state never changes. */
export type CommandState = "cancelled" | "expired" | "failed" | "queued" | "received" | "rejected" | "running" | "sent" | "succeeded" | "timed_out";

/** What proved the success of a command. */
export type ConfirmedBy = "ack" | "both" | "evidence";

/** A conversion of one medium. `file_url` is null until the conversion is ready. */
export type Conversion = {
  attempts: number;
  created_at: string;
  error_code: string | null;
  error_message: string | null;
  file_hash: string;
  file_url: string | null;
  finished_at: string | null;
  id: number;
  media_id: number;
  pages: number | null;
  report: Record<string, unknown> | null;
  started_at: string | null;
  status: ConversionStatus;
  target_format: TargetFormat;
  trace_id: string | null;
  waiting_before: number | null;
};

/** A conversion in a list, with the name of the uploaded file. */
export type ConversionItem = {
  attempts: number;
  created_at: string;
  error_code: string | null;
  error_message: string | null;
  file_hash: string;
  file_url: string | null;
  filename: string;
  finished_at: string | null;
  id: number;
  media_id: number;
  pages: number | null;
  report: Record<string, unknown> | null;
  started_at: string | null;
  status: ConversionStatus;
  target_format: TargetFormat;
  trace_id: string | null;
  waiting_before: number | null;
};

/** The state of a conversion. */
export type ConversionStatus = "failed" | "pending" | "processing" | "ready";

/** Which conversions. */
export type ConversionsQuery = {
  cursor?: string | null;
  limit?: number;
  status?: ConversionStatus | null;
};

/** A client that is crashed or silent: `reason` is for people, `since` is when it began. */
export type CrashedClient = {
  app_version: string | null;
  hostname: string | null;
  ip: string | null;
  last_heartbeat_at: string | null;
  limits: Array<PassedLimit>;
  lockout_until: string | null;
  mqtt_last_disconnect_at: string | null;
  mqtt_reconnect_count: number | null;
  name: string;
  open_command: OpenCommand | null;
  presence: Presence;
  process_status: ProcessStatus;
  reason: string;
  recovery: Recovery | null;
  screen_failed_since: string | null;
  screen_health: ScreenHealthStatus;
  service_failed_at: string | null;
  service_failed_unit: string | null;
  service_mended_at: string | null;
  shared_login_seen_at: string | null;
  since: string | null;
  site: string | null;
  status: ClientStatus;
  status_since: string;
  tags: Array<string>;
  uuid: string;
};

/** Clients that are crashed or silent beyond the threshold; the longest silent comes first. */
export type CrashedClients = {
  bridge: Bridge;
  items: Array<CrashedClient>;
  next_cursor: string | null;
};

/** The credentials to sign in with. */
export type Credentials = {
  code?: string;
  password: string;
  username: string;
};

/** The worst state of a display in each half hour, the oldest first. Null: its shop was closed for the whole half hour, or the display did not exist. */
export type DayOfClient = {
  states: Array<ClientStatus | null>;
  uuid: string;
};

/** A day of all displays of this page together. */
export type DayOfSite = {
  closed_seconds: number;
  date: string;
  down_seconds: number;
  unknown_seconds: number;
  up_seconds: number;
};

/** Which displays to tell of. */
export type DayQuery = {
  client: Array<string>;
};

/** A message that was put aside; the same message came `count` times. `payload` is its first 4 KiB as text. */
export type DeadLetter = {
  count: number;
  detail: string | null;
  first_at: string;
  id: number;
  last_at: string;
  payload: string;
  payload_bytes: number;
  reason: string;
  sha256: string;
  topic: string;
};

/** One message to one channel. `due_at` is the next try, while it is pending; `error` is of the last try. */
export type Delivery = {
  attempts: number;
  channel_id: number;
  channel_name: string;
  created_at: string;
  due_at: string | null;
  error: string | null;
  event: NotificationEvent;
  finished_at: string | null;
  id: number;
  phase: NotificationPhase;
  state: DeliveryState;
  subject: string;
  text: string;
  title: string;
};

/** Which messages to list. */
export type DeliveryQuery = {
  channel?: number | null;
  cursor?: string | null;
  limit?: number;
  state?: DeliveryState | null;
};

/** The state of one message to one channel. */
export type DeliveryState = "delivered" | "dropped" | "failed" | "folded" | "pending";

/** A page of displays in the order of name and uuid, in the overview's packed form. */
export type DisplaysAnswer = {
  next_cursor: string | null;
  packed: Packed;
  server_time: string;
};

/** Which displays to list; each parameter narrows the list. */
export type DisplaysQuery = {
  client?: Array<string>;
  cursor?: string | null;
  incident?: number | null;
  limit?: number;
  limit_passed?: boolean;
  nosite?: boolean;
  q?: string | null;
  screen_failed?: boolean | null;
  site?: string | null;
  status?: Array<ClientStatus>;
  tag?: string | null;
};

/** One of the last ten before a failure; 1 is the last. */
export type EarlierPicture = {
  age_seconds?: number;
  place: number;
};

/** Why the command is ended. */
export type EndOfCommand = {
  reason: string;
};

/** Everything that a display needs to connect. The password is shown only once. */
export type Enrolled = {
  mqtt: BrokerAddress;
  password: string;
  topic_root: string;
  username: string;
  uuid: string;
};

/** One error of any client. */
export type ErrorLog = {
  client_name: string;
  client_time: string | null;
  client_uuid: string;
  context: Record<string, unknown> | null;
  id: number;
  level: LogLevel;
  logger: string | null;
  message: string;
  raw_level: string | null;
  received_at: string;
  truncated: boolean;
};

/** An event of a client. `title` is for people; the fields of `details` depend on `kind`. */
export type Event = {
  at: string;
  details: Record<string, unknown>;
  kind: EventKind;
  title: string;
};

/** The kind of an entry in a client's timeline. */
export type EventKind = "audit" | "command" | "log" | "recovery" | "registered" | "screen" | "service_cleared" | "service_failed" | "state";

/** What should be on the screens of a display, of a tag or of a site: the first of these counts. */
export type Expectation = {
  address: string | null;
  black: boolean;
  id: number;
  scope: ExpectationScope;
  set_at: string;
  set_by: string;
  target: string;
  title: string | null;
};

/** Whose screens an expectation is about. */
export type ExpectationScope = "client" | "site" | "tag";

/** What is expected: for a display that of its own counts, then that of a tag, then that of its site. */
export type Expectations = {
  items: Array<Expectation>;
};

/** A client with a service failure. `service_mended_at`: when the failure was over. `mended_since`: since when the client runs again, if it does and the failure is over; else null. `mended_by`: who asked for the last restart or reboot that succeeded since the failure; `recovery`, or null. */
export type FailedService = {
  mended_by: string | null;
  mended_since: string | null;
  name: string;
  note: string | null;
  service_failed_at: string;
  service_failed_unit: string;
  service_mended_at: string | null;
  site: string | null;
  taken_at: string | null;
  taken_by: string | null;
  uuid: string;
};

/** One log row of any client. */
export type FedLog = {
  client_name: string;
  client_time: string | null;
  client_uuid: string;
  context: Record<string, unknown> | null;
  id: number;
  level: LogLevel;
  logger: string | null;
  message: string;
  raw_level: string | null;
  received_at: string;
  site: string | null;
  truncated: boolean;
};

/** The next lines of all displays. `next_cursor` is for the next request, also when there are no lines. */
export type Feed = {
  items: Array<FedLog>;
  next_cursor: string;
};

/** How far the reader is. */
export type FeedQuery = {
  cursor?: string | null;
  limit?: number;
  start?: "now" | "oldest";
};

/** One field or parameter that is not as expected. */
export type FieldProblem = {
  field: string;
  why: string;
};

/** One's own password, and the app's code or a recovery code. */
export type FullProof = {
  code: string;
  current_password: string;
};

/** Whether somebody looked after it until now. */
export type GivenBack = {
  changed: boolean;
};

/** A failure as the caller saw it. */
export type GivenFailure = {
  service_failed_at: string;
  uuid: string;
};

/** What a display sees on its screen, by its health report. */
export type GlassKind = "crashed" | "error" | "nothing" | "page" | "program";

/** A one-time password for a person. It is shown only once, works until `one_time_until`, and must be changed. */
export type HandedOver = {
  one_time_password: string;
  one_time_until: string;
  user: User;
};

/** The figures of the newest health report; percentages are 0 to 100. */
export type Health = {
  cpu_percent: number | null;
  disk_percent: number | null;
  limits: Array<LimitedValue>;
  memory_percent: number | null;
  received_at: string;
  refused: Array<RefusedOrder>;
  temperature_celsius: number | null;
};

/** The lowest and the highest sample, and the last sample with its time. */
export type HealthExtremes = {
  last: number;
  last_at: string;
  least: number;
  most: number;
};

/** At most 300 points in equal steps, the oldest first. A display is sampled every five minutes. `since` and `until` are the range of the answer. It can be shorter than the requested one: it excludes the future and times more than a week ago. */
export type HealthHistory = {
  points: Array<HealthPoint>;
  since: string;
  step_seconds: number;
  summary: HealthSummary;
  until: string;
  uuid: string;
};

/** The time range. `until` defaults to now, `since` to 24 hours before `until`. */
export type HealthHistoryQuery = {
  since?: string | null;
  until?: string | null;
};

/** The values of a display's machine that have a limit. */
export type HealthLimit = "certificate" | "clock" | "disk" | "heat" | "memory" | "read_only" | "refused" | "voltage";

/** The averages over `step_seconds` from `at` on; null when nothing was reported. */
export type HealthPoint = {
  at: string;
  cpu_percent: number | null;
  disk_percent: number | null;
  memory_percent: number | null;
  temperature_celsius: number | null;
};

/** The extremes of each figure; null when it was not reported in this time. */
export type HealthSummary = {
  cpu_percent: HealthExtremes | null;
  disk_percent: HealthExtremes | null;
  memory_percent: HealthExtremes | null;
  temperature_celsius: HealthExtremes | null;
};

/** Who looks after a trouble, since when, and that person's note. */
export type HeldBy = {
  note?: string | null;
  taken_at?: string | null;
  taken_by?: string | null;
};

/** The hours in which a channel gets messages: from `begin` to `end` on these days, in local time. */
export type HoursBody = {
  begin: string;
  end: string;
  time_zone: string;
  weekdays: Array<Weekday>;
};

/** Displays that failed together, and the likely `cause`. `members` counts the displays that were ever part of it, `unwell` those that still are. `group_size` counts the displays of the site or subnet that were heard in the day before; null for other kinds. An incident that became part of another one is closed with `merged_into`. Kind `listening` means that the bridge did not hear the fleet; it has no members. `again_of` is the incident of the same displays or place within the day before; `times` counts those of that day, this one too. `taken_by` has looked after it since `taken_at`, and left `note`; null: nobody does. */
export type Incident = {
  again_of: number | null;
  began_at: string;
  cause: string;
  closed_at: string | null;
  group_size: number | null;
  id: number;
  kind: IncidentKind;
  members: number;
  merged_into: number | null;
  note: string | null;
  opened_at: string;
  site: string | null;
  subnet: string | null;
  taken_at: string | null;
  taken_by: string | null;
  times: number;
  unwell: number;
};

/** An incident with the first page of its displays and of its timeline. `in_maintenance` counts the unwell displays that are in a quiet time of recovery now: it sends them nothing. */
export type IncidentDetails = {
  again_of: number | null;
  began_at: string;
  cause: string;
  closed_at: string | null;
  displays: PageMember;
  group_size: number | null;
  id: number;
  in_maintenance: number;
  kind: IncidentKind;
  members: number;
  merged_into: number | null;
  note: string | null;
  opened_at: string;
  site: string | null;
  subnet: string | null;
  taken_at: string | null;
  taken_by: string | null;
  timeline: PageIncidentEvent;
  times: number;
  unwell: number;
};

/** An event of an incident. `title` is for people; it concerns `count` displays, `uuids` are up to ten of them. */
export type IncidentEvent = {
  at: string;
  count: number | null;
  details: Record<string, unknown>;
  kind: IncidentEventKind;
  title: string;
  uuids: Array<string>;
};

/** The kind of an entry in an incident's timeline. */
export type IncidentEventKind = "closed" | "command" | "joined" | "left" | "merged" | "opened" | "recovery" | "reopened" | "taken";

/** What the displays of an incident have in common. */
export type IncidentKind = "cluster" | "listening" | "site" | "subnet";

/** Which incidents to list. */
export type IncidentQuery = {
  cursor?: string | null;
  limit?: number;
  open?: boolean | null;
  since?: string | null;
  site?: string | null;
};

/** A new token. `token` is shown only once. */
export type IssuedToken = {
  expires_at: string | null;
  id: string;
  name: string;
  role: Role;
  sites: Array<string> | null;
  token: string;
};

/** Each place of a large fleet; with `full` false those with changed displays, and a total of 0 for an empty one. A display that moved is still counted at its old place: when the totals' sum is not `counts.total`, ask again without `since`. */
export type LargeFleet = {
  places: Array<PlaceOfFleet>;
};

/** The last 24 hours of some displays; one that does not exist is left out. */
export type LastDay = {
  from: string;
  items: Array<DayOfClient>;
  slot_seconds: number;
  to: string;
};

/** Which client's dead letters to list. */
export type LetterQuery = {
  client?: string | null;
  cursor?: string | null;
  limit?: number;
};

/** A value of the newest health report and its limit, in the unit of PassedLimit; null: not known. */
export type LimitedValue = {
  at: number;
  limit: HealthLimit;
  value: number | null;
};

/** The process answers. */
export type Live = {
  status: string;
};

/** One log row. `client_time` is the display's own clock; it is not used for the order. */
export type Log = {
  client_time: string | null;
  context: Record<string, unknown> | null;
  id: number;
  level: LogLevel;
  logger: string | null;
  message: string;
  raw_level: string | null;
  received_at: string;
  truncated: boolean;
};

/** Severity of a client log; the last segment of the log topic. */
export type LogLevel = "critical" | "debug" | "error" | "info" | "warning";

/** Which log rows of a client to list. */
export type LogQuery = {
  cursor?: string | null;
  level?: Array<LogLevel>;
  limit?: number;
  q?: string | null;
  since?: string | null;
  until?: string | null;
};

/** The parameters of a list that is mostly short, so that one page mostly has all of it. */
export type LongPageQuery = {
  cursor?: string | null;
  limit?: number;
};

/** A new link. `secret` is shown only once; the page is `/status.html#` with the secret behind it. */
export type MadeStatusLink = {
  id: number;
  name: string;
  secret: string;
  site: string;
};

/** What to write for many clients: `site` moves them (null or empty: to no site), the tags are added or removed. */
export type ManyFacts = {
  add_tags?: Array<string>;
  clients: Array<string>;
  remove_tags?: Array<string>;
  site?: string | null;
};

/** An uploaded file. `sha256` is in hex. */
export type Media = {
  bytes: number;
  filename: string;
  id: number;
  kind: MediaKind;
  sha256: string;
  uploaded_at: string;
  uploaded_by: string;
};

/** The type of an uploaded file, by its content. */
export type MediaKind = "gif" | "jpeg" | "mp4" | "odp" | "pdf" | "png" | "ppt" | "pptx" | "webm" | "webp";

/** An uploaded file in a list, with its newest conversion. */
export type MediaListed = {
  bytes: number;
  conversion: Conversion | null;
  filename: string;
  id: number;
  kind: MediaKind;
  sha256: string;
  uploaded_at: string;
  uploaded_by: string;
};

/** Which uploaded files. */
export type MediaQuery = {
  cursor?: string | null;
  kind?: MediaKind | null;
  limit?: number;
};

/** A display that was part of the incident, as it was the last time. `left_at` is null while it is unwell. */
export type Member = {
  failed_at: string;
  joined_at: string;
  left_at: string | null;
  name: string;
  site: string | null;
  status: ClientStatus;
  symptom: Symptom;
  unit: string | null;
  uuid: string;
};

/** The state of a member's command; for the rest see `GET /api/commands/<id>`. */
export type MemberCommand = {
  confirmed_by: ConfirmedBy | null;
  created_at: string;
  expires_at: string;
  finished_at: string | null;
  id: string;
  late_state: string | null;
  outcome_reason: string | null;
  state: CommandState;
};

/** The outcome of one client of a batch. */
export type MemberOutcome = "aborted" | "accepted" | "command_in_flight" | "locked_out" | "not_capable" | "unknown_client" | "waiting";

/** Which members to show. */
export type MemberQuery = {
  cursor?: string | null;
  limit?: number;
  outcome?: MemberOutcome | null;
};

/** How often recovery mended a display since then: its restarts and reboots that provably happened. */
export type Mended = {
  count: number;
  since: string;
};

/** The failures that the caller saw and takes for mended. */
export type MendedBody = {
  failures: Array<GivenFailure>;
};

/** The clients whose failure was acknowledged. The others failed again, are not mended, or have no failure. */
export type MendedFailures = {
  acknowledged: Array<string>;
};

/** Since when to count. */
export type MendedQuery = {
  since: string;
};

/** A command for a display. */
export type NewCommand = {
  action: CommandAction;
  override_lockout?: boolean;
  reason?: string;
  ttl_seconds?: number | null;
};

/** A command for many displays, chosen by `clients` or `filter`. `waves` are numbers, shares such as `10%`, or `rest`. Each wave is sent when the one before it is over; clients that no wave includes come last. More unproven commands than `max_unproven` pause the batch. */
export type NewCommands = {
  action: "reboot_host" | "restart_app" | "screen_off" | "screen_on" | "shutdown_host";
  clients?: Array<string> | null;
  dry_run?: boolean;
  filter?: ChosenClients | null;
  max_unproven?: number | string;
  reason?: string;
  ttl_seconds?: number | null;
  waves?: Array<number | string> | null;
};

/** The lowest level that a display logs, and for how long. */
export type NewLogLevel = {
  level: LogLevel;
  minutes: number;
};

/** A new name for a file. If its extension does not match the file's kind, the right one is added. */
export type NewName = {
  filename: string;
};

/** How many things bear the new name now. `opening_hours_ended`: of two sites that became one, the opening hours of `to` hold. `people_of_provider`: people whose sites the sign-in service gives at each sign-in. Rename the site there, too, or they will see nothing. */
export type NewNameOfSite = {
  channels: number;
  displays: number;
  opening_hours_ended: number;
  people: number;
  people_of_provider: number;
  quiet_times: number;
  schedules: number;
  site: string;
  status_links: number;
  tokens: number;
};

/** A channel to add. `url` is a webhook's URL or an Apprise address (`mailto://…`, `slack://…`). */
export type NewNotificationChannel = {
  critical_passes?: boolean;
  delay_seconds?: number;
  enabled?: boolean;
  events?: Array<NotificationEvent>;
  hours?: HoursBody | null;
  kind: ChannelKind;
  language?: string;
  name: string;
  signing_secret?: string | null;
  sites?: Array<string> | null;
  url: string;
};

/** A new password, and the present one as proof. */
export type NewPassword = {
  current_password: string;
  new_password: string;
};

/** A quiet time to make. `starts_at` defaults to now; without `ends_at` it lasts until somebody ends it. `hold` and `leave_out` make recovery quiet and need a reason; `snooze` messages; `maintenance` recovery, messages and batches; `opening_hours` recovery, messages and the screen, outside of `hours`; `custom` what `quiet` says. */
export type NewQuietTime = {
  clients?: Array<string>;
  ends_at?: string | null;
  hours?: Array<WeeklyHoursBody>;
  preset: QuietPreset;
  quiet?: Array<Quiet> | null;
  reason?: string;
  scope: QuietScope;
  site?: string | null;
  starts_at?: string | null;
  tag?: string | null;
  time_zone?: string | null;
};

/** A batch for later: once `at` a time, or on each of `weekdays` at `local_time`, both in `time_zone`. Where the clocks change, a local time is read by the clock as it was before: one that does not exist comes later by what the clocks skip, and one that comes twice counts the first time. A filter is evaluated anew at each time. */
export type NewSchedule = {
  action: "reboot_host" | "restart_app" | "screen_off" | "screen_on" | "shutdown_host";
  at?: string | null;
  clients?: Array<string> | null;
  filter?: ChosenClients | null;
  local_time?: string | null;
  max_unproven?: number | string;
  reason?: string;
  time_zone: string;
  ttl_seconds?: number | null;
  until?: string | null;
  waves?: Array<number | string> | null;
  weekdays?: Array<Weekday> | null;
};

/** A new link: who gets it, and which site its page shows. */
export type NewStatusLink = {
  name: string;
  site: string;
};

/** A token to issue: its purpose, its role at these sites or (null) at all, and its expiry. */
export type NewToken = {
  expires_at?: string | null;
  name: string;
  role: Role;
  sites?: Array<string> | null;
};

/** A person to add, and their role: at these sites, or (null) at all. */
export type NewUser = {
  role: Role;
  sites?: Array<string> | null;
  username: string;
};

/** Whose pictures to list. */
export type NewestQuery = {
  client: Array<string>;
};

/** The newest picture of each display that has one and whose screen may be seen. */
export type NewestScreenshots = {
  items: Array<Screenshot>;
};

/** No parameters. */
export type NoQuery = {
};

/** A channel. `address` is its url without secrets; `last_error` is null after a successful delivery. */
export type NotificationChannel = {
  address: string;
  changed_at: string;
  created_at: string;
  created_by: string;
  critical_passes: boolean;
  delay_seconds: number;
  empty_sites: Array<string>;
  enabled: boolean;
  events: Array<NotificationEvent>;
  hours: ChannelHours | null;
  id: number;
  kind: ChannelKind;
  language: string;
  last_delivered_at: string | null;
  last_error: string | null;
  last_failed_at: string | null;
  name: string;
  signed: boolean;
  sites: Array<string> | null;
};

/** The events of notifications. */
export type NotificationEvent = "breaker_open" | "bridge_silent" | "certificate_ending" | "certificate_old" | "connection_unsteady" | "conversion_failed" | "daily_report" | "display_suspended" | "display_unwell" | "incident_escalated" | "incident_opened" | "limit_passed" | "login_shared" | "recovered" | "screen_bad" | "service_failed" | "site_emptied" | "weekly_report";

/** The phase of a trouble that a message reports; a channel gets each phase once. */
export type NotificationPhase = "escalated" | "opened" | "recovered";

/** A time in which it is quiet without a break. `ends_at` null: until somebody ends it. */
export type Occurrence = {
  ends_at: string | null;
  starts_at: string;
};

/** The open command of a client. A screenshot is none: it lets other commands begin. */
export type OpenCommand = {
  action: string;
  created_at: string;
  expires_at: string;
  id: string;
  source: string;
  state: CommandState;
};

/** The open incident that a client is part of; see `GET /api/incidents/<id>`. */
export type OpenIncident = {
  cause: string;
  id: number;
};

/** The level that was sent to the display. Its health reports name the level in force; `until` is by our clock. */
export type OrderedLogLevel = {
  level: LogLevel;
  until: string;
  uuid: string;
};

/** The outcome for one client. `accepted` only means that it has a command; the command's state shows success. */
export type Outcome = {
  command: MemberCommand | null;
  lockout_until: string | null;
  outcome: MemberOutcome;
  uuid: string;
  wave: number | null;
};

/** The fleet. `full` false: only clients that changed since the cursor; forget the clients in `gone`. `quiet_times`: those that are on; a client is meant by its uuid, site or tags. Left out when they are the same as at the cursor. `large`: the fleet has more displays than `most`, so that a full answer names few of them: those to help first, without heartbeats. */
export type OverviewAnswer = {
  breaker: Breaker;
  bridge: Bridge;
  clients?: Array<OverviewClient>;
  counts: Record<string, number>;
  cursor: string;
  epoch: string;
  full: boolean;
  gone: Array<string>;
  heartbeats?: Array<Array<string>>;
  incidents: Array<StandingIncident>;
  large?: LargeFleet;
  packed?: Packed;
  packed_heartbeats?: PackedHeartbeats;
  quiet_times?: Array<QuietNowView>;
  scheduler: Scheduler;
  server_time: string;
  service_failed: Array<FailedService>;
};

/** A client, and the open incident in which it is unwell. */
export type OverviewClient = {
  app_version: string | null;
  hostname: string | null;
  incident_id: number | null;
  ip: string | null;
  last_heartbeat_at: string | null;
  limits: Array<PassedLimit>;
  lockout_until: string | null;
  mqtt_last_disconnect_at: string | null;
  mqtt_reconnect_count: number | null;
  name: string;
  open_command: OpenCommand | null;
  presence: Presence;
  process_status: ProcessStatus;
  recovery: Recovery | null;
  screen_failed_since: string | null;
  screen_health: ScreenHealthStatus;
  service_failed_at: string | null;
  service_failed_unit: string | null;
  service_mended_at: string | null;
  shared_login_seen_at: string | null;
  site: string | null;
  status: ClientStatus;
  status_since: string;
  tags: Array<string>;
  uuid: string;
};

/** The form of the answer. */
export type OverviewQuery = {
  format?: "objects" | "packed";
  hb?: "0" | "1";
  most?: number | null;
  since?: string | null;
};

/** One of the caller's valid sessions. `last_seen_at` is exact to a minute. */
export type OwnSession = {
  address: string | null;
  browser: string | null;
  created_at: string;
  expires_at: string;
  id: number;
  is_this_one: boolean;
  last_seen_at: string;
};

/** The caller's sessions; the one used last comes first. */
export type OwnSessions = {
  items: Array<OwnSession>;
};

/** Clients column by column: the nth value of each column belongs to the nth client. `uuid` holds 16 bytes of each client, in base64. `status_since`, `last_heartbeat_at`, `screen_failed_since`, `service_failed_at`, `service_mended_at`, `mqtt_last_disconnect_at`, `shared_login_seen_at` and `lockout_until` are seconds before `server_time`, cut to the second. A time with a fraction is a text that adds its six digits ("12.034500"). */
export type Packed = {
  app_version: Array<string | null> | Words;
  hostname: Array<string | null>;
  incident_id: Array<number | null>;
  ip: Array<string | null>;
  last_heartbeat_at: Array<number | string | null>;
  limits: Array<Array<PassedLimit>>;
  lockout_until: Array<number | string | null>;
  mqtt_last_disconnect_at: Array<number | string | null>;
  mqtt_reconnect_count: Array<number | null>;
  name: Array<string>;
  open_command: Array<OpenCommand | null>;
  presence: Array<Presence>;
  process_status: Array<ProcessStatus>;
  recovery: Array<Recovery | null>;
  screen_failed_since: Array<number | string | null>;
  screen_health: Array<ScreenHealthStatus>;
  service_failed_at: Array<number | string | null>;
  service_failed_unit: Array<string | null>;
  service_mended_at: Array<number | string | null>;
  shared_login_seen_at: Array<number | string | null>;
  site: Array<string | null> | Words;
  status: Array<ClientStatus>;
  status_since: Array<number | string | null>;
  tags: Array<Array<string>>;
  uuid: string;
};

/** The last heartbeat of each client, in the packed form. */
export type PackedHeartbeats = {
  last_heartbeat_at: Array<number | string | null>;
  uuid: string;
};

/** The parameters of every list. */
export type PageQuery = {
  cursor?: string | null;
  limit?: number;
};

/** The state of a display on the public status page of its site. */
export type PageState = "not_running" | "off" | "running" | "unknown";

/** One page of a list; `next_cursor` is null on the last one. */
export type PageAcknowledgedFailure = {
  items: Array<AcknowledgedFailure>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageAuditEntry = {
  items: Array<AuditEntry>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageBatchMember = {
  items: Array<BatchMember>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageBatch = {
  items: Array<Batch>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageClient = {
  items: Array<Client>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageCommandSchedule = {
  items: Array<CommandSchedule>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageCommand = {
  items: Array<Command>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageConversionItem = {
  items: Array<ConversionItem>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageDeadLetter = {
  items: Array<DeadLetter>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageDelivery = {
  items: Array<Delivery>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageErrorLog = {
  items: Array<ErrorLog>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageEvent = {
  items: Array<Event>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageIncidentEvent = {
  items: Array<IncidentEvent>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageIncident = {
  items: Array<Incident>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageLog = {
  items: Array<Log>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageMediaListed = {
  items: Array<MediaListed>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageMember = {
  items: Array<Member>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageNotificationChannel = {
  items: Array<NotificationChannel>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageQuietTime = {
  items: Array<QuietTime>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageRecoveryEvent = {
  items: Array<RecoveryEvent>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageScheduleTime = {
  items: Array<ScheduleTime>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageStatusLink = {
  items: Array<StatusLink>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageToken = {
  items: Array<Token>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageUnsteadyClient = {
  items: Array<UnsteadyClient>;
  next_cursor: string | null;
};

/** One page of a list; `next_cursor` is null on the last one. */
export type PageUser = {
  items: Array<User>;
  next_cursor: string | null;
};

/** A limit of health that a client passes, in its unit: %, °C, days left, or seconds ahead (negative: behind). `value`: the last one at the limit or worse, 1 for `voltage` and `read_only`; `refused` counts. `at`: the limit. */
export type PassedLimit = {
  at: number;
  limit: HealthLimit;
  since: string;
  value: number;
};

/** Which days: those of each shop's zone; those to come, and of more than a year ago, are left out. */
export type PeriodQuery = {
  since: string;
  time_zone?: string;
  until: string;
};

/** A site; null: the displays without one. `unwell` of its `total` displays need help. `states`: how many are in each state; of displays that run, those with another fault are `bad`. */
export type PlaceOfFleet = {
  site: string | null;
  states: Record<string, number>;
  total: number;
  unwell: number;
};

/** What the display's retained presence message says. It is a hint; the heartbeat decides. */
export type Presence = "offline" | "online" | "unknown";

/** The kind of an API caller. */
export type PrincipalKind = "token" | "user";

/** An RFC 9457 problem document; an error's own fields stand beside these. */
export type Problem = {
  code: string;
  detail: string;
  detail_code: string;
  errors?: Array<FieldProblem>;
  request_id: string;
  status: number;
  title: string;
  type: string;
};

/** The state of a display's player process, by its heartbeat. */
export type ProcessStatus = "crashed" | "running" | "starting" | "stopped" | "unknown";

/** One's own password. */
export type Proof = {
  current_password: string;
};

/** Where the browser goes to sign in. It comes back by itself within ten minutes. */
export type ProviderAddress = {
  address: string;
};

/** What is quiet. */
export type Quiet = "commands" | "notices" | "recovery" | "screen";

/** Weekly hours on some days, at local times HH:MM or HH:MM:SS; `to` may be 24:00. `nights`: how many midnights lie between `from` and `to`. */
export type QuietHours = {
  days: Array<Weekday>;
  from: string;
  nights: number;
  to: string;
};

/** A quiet time that is on. `until` null: until somebody ends it. `by` made it. */
export type QuietNowView = {
  by: string;
  clients: Array<string>;
  id: number;
  preset: QuietPreset;
  quiet: Array<Quiet>;
  reason: string;
  scope: QuietScope;
  site: string | null;
  tag: string | null;
  until: string | null;
};

/** What people make: each kind of quiet time with its own rules. */
export type QuietPreset = "custom" | "hold" | "leave_out" | "maintenance" | "opening_hours" | "snooze";

/** Whom a quiet time is about. */
export type QuietScope = "clients" | "fleet" | "site" | "tag";

/** The state of a quiet time. */
export type QuietState = "ended" | "on" | "over" | "planned";

/** A quiet time: whom it is about, what is quiet, when, who made it and why. `occurrence` is the present or the next time in which it is quiet (of opening hours: closed); null: none is left. `covers`: how many displays it is about now; `note` says when there is none yet. `words` is one sentence for people, without the end. */
export type QuietTime = {
  clients: Array<string>;
  covers: number;
  created_at: string;
  created_by: string;
  ended_at: string | null;
  ended_by: string | null;
  ends_at: string | null;
  hours: Array<QuietHours>;
  id: number;
  note: string | null;
  occurrence: Occurrence | null;
  preset: QuietPreset;
  quiet: Array<Quiet>;
  reason: string;
  scope: QuietScope;
  site: string | null;
  starts_at: string;
  state: QuietState;
  tag: string | null;
  time_zone: string | null;
  words: string;
};

/** New values; a field that is left out stays. `starts_at` only before it begins. */
export type QuietTimeChanges = {
  ends_at?: string | null;
  hours?: Array<WeeklyHoursBody>;
  reason?: string;
  starts_at?: string;
  time_zone?: string | null;
};

/** Which quiet times to list. */
export type QuietTimeQuery = {
  client?: string | null;
  current?: boolean | null;
  cursor?: string | null;
  limit?: number;
  preset?: QuietPreset | null;
};

/** `status` is `ready` when every check is ok, else `not_ready`. `checks` is empty for callers without a token or session, unless they are on this machine. */
export type Ready = {
  checks: Record<string, Check>;
  status: string;
};

/** Which errors to list. */
export type RecentErrorsQuery = {
  cursor?: string | null;
  hours?: number;
  limit?: number;
};

/** What recovery does about an unhealthy client; `why` is for people. `mute`: the client sends messages, but no heartbeats. */
export type Recovery = {
  mute: boolean;
  state: RecoveryState;
  step: number;
  until: string | null;
  why: string;
};

/** Recovery codes. Each replaces a code of the app once. They are shown only once. */
export type RecoveryCodes = {
  recovery_codes: Array<string>;
};

/** A recorded decision; `client_uuid` null: about a breaker. `evidence` holds the facts at that time. `decision`: restart_app, reboot_host, none, breaker_open, breaker_closed or breaker_released; while versions change, a word of a newer one. */
export type RecoveryEvent = {
  at: string;
  client_uuid: string | null;
  command_id: string | null;
  decision: string;
  evidence: Record<string, unknown>;
  id: number;
  why: string;
};

/** Why recovery acts on a client or does not. */
export type RecoveryState = "blocked_breaker" | "blocked_bridge" | "due" | "held" | "in_flight" | "locked" | "not_recovered" | "off" | "suspended" | "unreachable" | "verifying";

/** The code as typed; case, dashes and blanks do not matter. */
export type Redemption = {
  code: string;
};

/** Messages of a client that were put aside within a day. `kind` is the topic's; `words` is for people. */
export type RefusedMessages = {
  count: number;
  kind: string;
  last_at: string;
  reason: string;
  words: string;
};

/** An order that a client does not take: the downward topic, and the client's reason as a word. */
export type RefusedOrder = {
  reason: string;
  what: string;
};

/** Which breaker: the site's, or without `site` every open breaker. */
export type ReleaseBody = {
  site?: string | null;
};

/** The sites whose breaker was released; null is the fleet's breaker. Empty when none was open. */
export type Released = {
  breaker: Breaker;
  released: Array<string | null>;
};

/** A site and its new name. `merge`: that name may be another site's; both are one from then on. */
export type RenameOfSite = {
  merge?: boolean;
  site: string;
  to: string;
};

/** The username of the account in the address, to confirm that its password or second factor ends. */
export type Reset = {
  username: string;
};

/** What a provider adds to the address on which it sends the browser back. */
export type Returned = {
  code?: string;
  error?: string;
  iss?: string | null;
  state?: string;
};

/** The rights of a person or a script. Each role includes the rights of the roles before it. */
export type Role = "admin" | "operator" | "viewer";

/** A display's current password as proof, and its new password: 32 random bytes in base64url. */
export type Rotation = {
  new_password: string;
  password: string;
  uuid: string;
};

/** The same as `GET /api/clients/<uuid>/recovery`. `changed` is false when the order stood already. */
export type SaidOfClient = {
  breaker: Breaker;
  breaker_events: Array<RecoveryEvent>;
  bridge: Bridge;
  changed: boolean;
  enabled: boolean;
  events: Array<RecoveryEvent>;
  recovery: Recovery | null;
  tried: Tried;
  uuid: string;
};

/** An expectation, and how many of the pages seen now it matches, in words. */
export type SavedExpectation = {
  address: string | null;
  black: boolean;
  id: number;
  scope: ExpectationScope;
  set_at: string;
  set_by: string;
  target: string;
  title: string | null;
  words: string;
};

/** A schedule with the clients that it names, how many displays it is for now, and what became of its times. */
export type ScheduleDetails = {
  action: string;
  at: string | null;
  cancelled_at: string | null;
  cancelled_by: string | null;
  clients: Array<string>;
  covers: number;
  created_at: string;
  created_by: string;
  empty_sites: Array<string>;
  filter: Record<string, unknown> | null;
  id: string;
  last: ScheduleTime | null;
  local_time: string | null;
  max_unproven: string;
  named: number;
  next_at: string | null;
  reason: string;
  state: ScheduleState;
  time_zone: string;
  times: PageScheduleTime;
  ttl_seconds: number | null;
  until: string | null;
  waves: Array<number | string>;
  weekdays: Array<Weekday>;
  words: string;
};

/** What became of one time of a schedule. */
export type ScheduleOutcome = "made" | "missed";

/** Which schedules to list. */
export type ScheduleQuery = {
  current?: boolean | null;
  cursor?: string | null;
  limit?: number;
};

/** The state of a schedule of commands. */
export type ScheduleState = "cancelled" | "done" | "held" | "missed" | "planned" | "running";

/** What became of one time. `why`: the reason why it was missed. `batch_state`: null when its batch is gone. */
export type ScheduleTime = {
  batch_id: string | null;
  batch_state: BatchState | null;
  due_at: string;
  outcome: ScheduleOutcome;
  why: string | null;
};

/** Whether ticks come on time, how long the last one took and what each of its steps did. */
export type Scheduler = {
  did: Record<string, unknown>;
  duration_ms: number | null;
  last_tick_at: string | null;
  late: boolean;
};

/** The last tick; null before the first one. */
export type SchedulerShown = {
  did: Record<string, unknown>;
  duration_ms: number | null;
  last_tick_at: string | null;
  late: boolean;
};

/** What will happen to a client: the schedules that name it or whose filter it matches now, the next one first. */
export type SchedulesOfClient = {
  items: Array<CommandSchedule>;
  uuid: string;
};

/** The state of a display's panel, by its health report. */
export type ScreenHealthStatus = "black" | "disconnected" | "error_page" | "frozen" | "hung" | "no_page" | "off" | "ok" | "unknown" | "white" | "wrong_page";

/** Whose plan it is that a display's screen is off, by its health report. */
export type ScreenOffBy = "command" | "hours";

/** A stored picture: `command_id` asked for it, or it was taken before the failure at `failure_at`. */
export type Screenshot = {
  client_uuid: string;
  command_id: string | null;
  failure_at: string | null;
  height: number;
  id: number;
  stored_at: string;
  taken_at: string;
  width: number;
};

/** The sites whose screens nobody may see; an empty name means displays without a site. */
export type ScreenshotPolicy = {
  sites_off: Array<string>;
};

/** Whether this screen may be seen, and its pictures, the newest first. */
export type ScreenshotsOfClient = {
  allowed: boolean;
  items: Array<Screenshot>;
};

/** The last pictures before the displays of an incident failed, by display. */
export type ScreenshotsOfIncident = {
  items: Array<Screenshot>;
};

/** Whether signing in needs a code. */
export type SecondFactor = {
  is_required: boolean;
  recovery_codes_left: number;
  since: string | null;
};

/** The app's secret. It is shown only once, and is valid after a code of the app was sent to `confirm`. */
export type Secret = {
  otpauth_url: string;
  secret: string;
};

/** What a display sees on its screen. Address and title come seldom; null: not told yet, or there are none. */
export type SeenPage = {
  address?: string | null;
  kind: GlassKind;
  name?: string | null;
  title?: string | null;
};

/** One outcome for each requested client, in the requested order. `batch_id` is null in a dry run. */
export type Sent = {
  batch_id: string | null;
  counts: Record<string, number>;
  outcomes: Array<Outcome>;
  state: BatchState | null;
};

/** The caller, and when their session or token expires (null: never). */
export type Session = {
  by_provider: boolean;
  expires_at: string | null;
  must_change_password: boolean;
  must_set_up_second_factor: boolean;
  principal: Caller;
};

/** One setting. */
export type SettingShown = {
  default: unknown;
  meaning: string;
  unit: string;
  value: unknown;
};

/** Settings by name, scheduler and bridge. */
export type Settings = {
  bridge: BridgeShown;
  scheduler: SchedulerShown;
  settings: Record<string, SettingShown>;
};

/** How people sign in: with name and password, or at a proxy in front of this service. */
export type SignInMethod = {
  method: "password" | "proxy";
  provider: string | null;
};

/** Signed out here. The browser may go on to `address`, which signs out at the sign-in service, too. */
export type SignedOut = {
  address: string;
};

/** Whether the screens of a site may be seen; an empty name means displays without a site. */
export type SitePolicy = {
  allowed: boolean;
  site: string;
};

/** Which site, and which days. */
export type SiteQuery = {
  cursor?: string | null;
  limit?: number;
  since: string;
  site: string;
  time_zone?: string;
  until: string;
};

/** A period of a site until now, as long as `period_seconds`; a display counts at its present site. `days` are the sums of `items`: with a `next_cursor` add those of the next page. `time_zone`: that of the site's opening hours, or as it was asked for. */
export type SpentAtSite = {
  days: Array<DayOfSite>;
  items: Array<SpentByClient>;
  next_cursor: string | null;
  period_seconds: number;
  time_zone: string;
};

/** A period of one display. */
export type SpentByClient = {
  closed_seconds: number;
  down_seconds: number;
  name: string;
  unknown_seconds: number;
  up_seconds: number;
  uuid: string;
};

/** A period of all `displays` of a site together; until now it is as long as `period_seconds`. */
export type SpentBySite = {
  closed_seconds: number;
  displays: number;
  down_seconds: number;
  period_seconds: number;
  site: string;
  time_zone: string;
  unknown_seconds: number;
  up_seconds: number;
};

/** A period of every site; '' is displays without one. */
export type SpentBySites = {
  items: Array<SpentBySite>;
};

/** An open incident of clients; see `GET /api/incidents/<id>`. `members` were ever in it. The gravest is first. */
export type StandingIncident = {
  again_of: number | null;
  began_at: string;
  cause: string;
  group_size: number | null;
  id: number;
  key: string;
  kind: IncidentKind;
  members: number;
  note: string | null;
  taken_at: string | null;
  taken_by: string | null;
  times: number;
  unwell: number;
};

/** Displays that failed together. `cause` null: its sentence is not for strangers. */
export type StatusIncident = {
  began_at: string;
  cause: string | null;
};

/** A link in a list, without its secret. `last_used_at` is exact to a minute. */
export type StatusLink = {
  created_at: string;
  created_by: string;
  empty_sites: Array<string>;
  ended_at: string | null;
  id: number;
  last_used_at: string | null;
  name: string;
  site: string;
};

/** A display on the page. `since`: when this state began, a week ago at the earliest. `hours`: a letter for each of the last 168 hours, the oldest first, by the worst state in it: r runs, n does not, u unknown, - off or not there yet. `availability`: the share, 0 to 1, of the open and known time of the week in which it ran. `known_seconds`: how long that is; null: the open time of the week, or nearly. */
export type StatusOfDisplay = {
  availability: number | null;
  hours: string;
  known_seconds: number | null;
  name: string;
  since: string;
  state: PageState;
};

/** A site at `as_of`. `more`: it has more displays than are listed. */
export type StatusPage = {
  as_of: string;
  displays: Array<StatusOfDisplay>;
  incidents: Array<StatusIncident>;
  more: boolean;
  site: string;
};

/** The number of log lines since `since`, by level and by client. */
export type Summary = {
  clients: Array<ClientSummary>;
  since: string;
  totals: Record<string, number>;
};

/** How far the summary looks back, and for which client. */
export type SummaryQuery = {
  client?: string | null;
  hours?: number;
};

/** How a display of an incident failed. */
export type Symptom = "crashed" | "disconnected" | "screen_failed" | "service_failed" | "silent";

/** Who takes a trouble. `note` left out: the note stays. `instead_of`: the `taken_by` from whom it is taken over. */
export type TakeBody = {
  instead_of?: string | null;
  note?: string | null;
};

/** Who takes the failure that the caller saw. */
export type TakeFailureBody = {
  instead_of?: string | null;
  note?: string | null;
  service_failed_at: string;
};

/** The format of a converted medium. */
export type TargetFormat = "pdf";

/** Proof that the blueprint answers; `logs` is Postgres' own estimate of the rows stored. */
export type TestAnswer = {
  blueprint: string;
  logs: number;
  status: string;
};

/** A token in a list, without its secret. `sites`: where the role counts; null: at all sites. */
export type Token = {
  created_at: string;
  created_by: string;
  empty_sites: Array<string>;
  expires_at: string | null;
  id: string;
  last_used_at: string | null;
  name: string;
  revoked_at: string | null;
  role: Role;
  sites: Array<string> | null;
};

/** The result of a test message; `words` tells people the receiver's answer. */
export type TrialResult = {
  delivered: boolean;
  duration_ms: number;
  words: string;
};

/** How far up the ladder of four attempts recovery has gone, and since when the client is healthy again. A command that the display refused or did not begin is not an attempt; it is counted in `refused_…`. */
export type Tried = {
  healthy_since: string | null;
  reboots: number;
  refused_reboots: number;
  refused_restarts: number;
  restarts: number;
  since: string | null;
  step: number;
};

/** A client that keeps losing the broker: how often within the last hour, and since when it counts as unsteady. */
export type UnsteadyClient = {
  losses: number;
  name: string;
  since: string;
  site: string | null;
  uuid: string;
};

/** An upload in parts. `offset` bytes of `length` are stored; `media_id` is set when all are. */
export type Upload = {
  created_at: string;
  expires_at: string;
  filename: string;
  id: string;
  length: number;
  media_id: number | null;
  offset: number;
};

/** The new medium and, for a presentation, its conversion. */
export type Uploaded = {
  conversion: Conversion | null;
  media: Media;
};

/** Shares over 24 hours, 7 days and 30 days, and the states of the requested days, the oldest first. `segments` hold every state, also of the times in `closed`, which count for no share. If the display changed its state more than 1,000 times in those days, `segments` are 480 equal slots, each with the worst state in it. */
export type Uptime = {
  closed: Array<ClosedTime>;
  segments: Array<UptimeSegment>;
  uuid: string;
  windows: Array<UptimeWindow>;
};

/** How many days to show. */
export type UptimeQuery = {
  days?: number;
};

/** A time in which the shown state did not change. */
export type UptimeSegment = {
  from: string;
  status: ClientStatus;
  to: string;
};

/** The share of each state in the last `hours`, or since the client exists. Only opening hours count: `closed_seconds`, in which the screen was meant to be off, are in no other figure. Time in the state `unknown` (never heard, or the bridge was silent) is not counted: the other shares add up to 1. All are 0 when the whole time is unknown. */
export type UptimeWindow = {
  closed_seconds: number;
  hours: number;
  known_seconds: number;
  shares: Record<string, number>;
  unknown_seconds: number;
};

/** A person who signs in. `sites`: where the role counts; null: at all sites. `one_time_until`: the person has a one-time password from an admin. It works until then and must be changed at sign-in. `must_change_password` without it: the first admin still has the generated password. `by_provider`: they sign in at the sign-in service, which gives role and sites anew each time. */
export type User = {
  by_provider: boolean;
  created_at: string;
  disabled_at: string | null;
  empty_sites: Array<string>;
  id: number;
  last_sign_in_at: string | null;
  must_change_password: boolean;
  one_time_until: string | null;
  role: Role;
  second_factor: boolean;
  sites: Array<string> | null;
  username: string;
};

/** A new role, other sites (null: all), or whether the person may sign in. Fields that are left out stay. */
export type UserChange = {
  disabled?: boolean;
  role?: Role;
  sites?: Array<string> | null;
};

/** What should be on the screens of a display (`target` is its uuid), of a tag or of a site. `address` and `title` of the page; null: any. `black`: a black screen is meant, and no failure. */
export type WantedPage = {
  address?: string | null;
  black?: boolean;
  scope: ExpectationScope;
  target: string;
  title?: string | null;
};

/** One wave: how many members, and the counts of their outcomes and of their commands' states. */
export type WaveView = {
  clients: number;
  number: number;
  outcomes: Record<string, number>;
  states: Record<string, number>;
};

/** Days of the week, in the order of ISO 8601. */
export type Weekday = "friday" | "monday" | "saturday" | "sunday" | "thursday" | "tuesday" | "wednesday";

/** Weekly hours. Without `nights`, a `to` that is not after `from` is on the next day. */
export type WeeklyHoursBody = {
  days: Array<Weekday>;
  from: string;
  nights?: number | null;
  to: string;
};

/** A column with few different values: each value once in `words`, and each client's index into them in `places`. */
export type Words = {
  places: Array<number>;
  words: Array<string | null>;
};

/** The client after the change. `no_longer_quiet`: a quiet time left it alone before, and now does not any more. */
export type WrittenClient = {
  app_instance: string | null;
  app_version: string | null;
  boot_id: string | null;
  capabilities: Array<string> | null;
  code_until: string | null;
  counter_went_back_at: string | null;
  created_at: string;
  expected: Expectation | null;
  health: Health | null;
  hostname: string | null;
  incident: OpenIncident | null;
  interval_seconds: number | null;
  ip: string | null;
  keeps_hours: boolean | null;
  last_heartbeat_at: string | null;
  limits: Array<PassedLimit>;
  lockout_until: string | null;
  log_level: string | null;
  mqtt_last_disconnect_at: string | null;
  mqtt_reconnect_count: number | null;
  name: string;
  no_longer_quiet: boolean;
  notes: string;
  open_command: OpenCommand | null;
  os: string | null;
  page: SeenPage | null;
  presence: Presence;
  presence_at: string | null;
  process_status: ProcessStatus;
  quiet_times: Array<QuietNowView>;
  recovery: Recovery | null;
  refused: Array<RefusedMessages>;
  registered_by: string;
  screen_failed_since: string | null;
  screen_health: ScreenHealthStatus;
  screen_off_by: ScreenOffBy | null;
  service_failed_at: string | null;
  service_failed_cleared_at: string | null;
  service_failed_cleared_by: string | null;
  service_failed_unit: string | null;
  service_mended_at: string | null;
  shared_login_seen_at: string | null;
  site: string | null;
  status: ClientStatus;
  status_since: string;
  tags: Array<string>;
  unsteady_losses: number | null;
  uuid: string;
};

/** The clients that were changed. `left`: unknown ones, and those that would have more than 32 tags. `no_longer_quiet`: a quiet time covered these clients before the change, and does not cover them now. */
export type WrittenClients = {
  left: Array<string>;
  no_longer_quiet: Array<string>;
  written: Array<string>;
};
