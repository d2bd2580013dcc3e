/** @type {typeof import("../setting_meanings.js").settingMeanings} */
export const settingMeanings = {
  DEPLOYMENT_MODE: "Wo der Server läuft; local öffnet Ports nur für den eigenen Rechner (Loopback)",
  MQTT_URL: "Adresse, unter der der Broker die Dienste des Servers annimmt",
  MQTT_USERNAME: "Benutzername dieses Dienstes beim Broker",
  MQTT_TOPIC_ROOT: "Erste Ebene jedes Topics",
  QUEUE_URL: "Cloud-Tasks-Dienst mit der Auftragswarteschlange „conversions“",
  CONVERTER_URL: "Adresse des Umwandlers für Präsentationen",
  CONVERT_WORKER_URL: "Wohin die Auftragswarteschlange Umwandlungen zustellt; zugleich Audience ihrer Identitätstoken",
  SCHEDULER_TICK_URL: "Wo der Taktgeber den Takt aufruft; zugleich Audience seiner Identitätstoken",
  OIDC_ISSUER: "Aussteller der Identitätstoken von Auftragswarteschlange und Taktgeber",
  TASKS_SERVICE_ACCOUNT: "E-Mail-Adresse, die in den Identitätstoken der Auftragswarteschlange stehen muss",
  SCHEDULER_SERVICE_ACCOUNT: "E-Mail-Adresse, die in den Identitätstoken des Taktgebers stehen muss",
  IAP_AUDIENCE:
    "/projects/<Nummer>/global/backendServices/<ID>: das Backend hinter Identity-Aware Proxy; leer: kein solcher Proxy",
  SSO_ISSUER: "Anmeldedienst (OpenID Connect), genau so, wie er sich selbst nennt",
  SSO_NAME: "Name des Anmeldedienstes auf der Schaltfläche",
  SSO_CLIENT_ID: "Client-ID dieses Servers beim Anmeldedienst",
  SSO_SCOPES: "Scopes, die beim Anmeldedienst angefragt werden",
  SSO_ROLE_CLAIM: "Claim, der die Rolle ergibt; ein Punkt führt in ein Objekt",
  SSO_ROLES: "JSON-Objekt: Wert dieses Claims zu Rolle; die höchste zählt",
  SSO_SITES_CLAIM: "Claim, der die Standorte ergibt, „*“ für alle; leer: alle",
  MEDIA_ROOT: "Eingehängtes Laufwerk für Dateien; die PDFs liegen unter converted/",
  CRASH_RECOVERY_ENABLED: "Ob der Takt gestörte Displays und ihre Player neu startet; Befehle laufen in jedem Fall ab",
  CLIENT_AUTO_REGISTER: "Ob die erste Nachricht mit einem gültigen Broker-Login ihr Display registriert",
  HEARTBEAT_STALE_SECONDS:
    "So lange muss ein Display still sein, um als verstummt zu gelten: mindestens 90, und nie weniger als das Dreifache seines eigenen Abstands",
  COMMAND_LOCKOUT_SECONDS:
    "Zeit nach „Player-Neustart“ oder „Neustart“, in der das Display keinen weiteren solchen Befehl bekommt",
  LOG_RETENTION_DAYS:
    "So lange werden Protokollzeilen der Stufen Debug, Info und Warnung aufbewahrt; Fehler und Kritisch dreimal so lange",
  HISTORY_RETENTION_DAYS:
    "So lange werden Befehle, Wiederherstellung, Störungen, Ruhezeiten, Änderungen von Displays und das Änderungsprotokoll aufbewahrt",
  UPLOAD_LIMIT_BYTES: "Größte Datei, die hochgeladen werden kann",
  CONVERSION_DEADLINE_SECONDS: "Zeit von LibreOffice für eine Präsentation, höchstens 20 Minuten",
  PUBLIC_URL: "Adresse dieser Seite für Links in Benachrichtigungen; leer: keine Links",
  OUTBOUND_PROXY:
    "http://[Benutzer:Passwort@]Rechner:Port, über den Webhooks, Chat und der Anmeldedienst erreicht werden; Mail geht direkt",
  NOTIFICATION_PRIVATE_ADDRESSES:
    "Ob Benachrichtigungen an private Adressen gehen dürfen und, außerhalb der Cloud, an Loopback; auto: nicht in der Cloud",
  SECOND_FACTOR_REQUIRED:
    "Wer zuerst einen zweiten Faktor einrichten muss (nobody: niemand, admins: Admins, everybody: alle); einrichten können ihn alle",
  LEAKED_PASSWORDS_FILE:
    "Sortierte SHA-1-Werte bekannt gewordener Passwörter, einer je Zeile, die abgelehnt werden; leer: keine Liste",
  TRUSTED_PROXY_HOPS: "Zahl der vertrauenswürdigen Proxys vor der API, die X-Forwarded-For ergänzen; 0: keine",
  DISPLAYS_MQTT_URL: "Adresse des Brokers, die ein Display mit seinem Verbindungscode erfährt; mqtts: mit TLS",
  DISPLAYS_CA_FILE: "PEM-Datei mit der CA, der Displays vertrauen müssen; leer: eine öffentliche CA",
  DISPLAYS_PASSWORD_FILE: "Logins der Displays: broker_accounts schreibt die Datei, der Broker liest sie",
  SERVICES_PASSWORD_FILE:
    "Logins der Dienste des Servers, wie mosquitto_passwd sie schreibt, für broker_logins; leer: der Broker kennt sie selbst",
  BROKER_LOGINS_PORT: "Loopback-Port, auf dem broker_logins einem fremden Broker antwortet",
  BROKER_CRASHES_FILE: "Wo Abstürze des Brokers vermerkt werden; leer: nirgends",
  CERTIFICATE_DOORS:
    "Ports, deren Zertifikate broker_accounts prüft, etwa displays=127.0.0.1:8883 people=127.0.0.1:443",
  BRIDGE_HEALTH_PORT: "Port, auf dem die Bridge /healthz, /readyz und /metrics beantwortet",
  DATABASE_POOL_SIZE: "Verbindungen, die ein Prozess zu Postgres offen hält",
  DATABASE_PREPARED_STATEMENTS:
    "Ob eine Verbindung vorbereitete Anweisungen behält; false hinter einem Pooler im Transaktionsmodus",
};
