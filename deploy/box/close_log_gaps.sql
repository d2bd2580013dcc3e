-- After a restore: what displays logged between the backup and the failure was committed, dropped from their spools, and
-- is gone. Their marks would stay before that gap until their next boot, and their spools would fill. This lets each
-- mark pass the first gap of its boot, to the end of what is stored behind it without another one; gaps further up stay.
-- Run it once, when displays have been back for ten minutes, with the bridge stopped: it writes the same marks.
WITH numbered AS (
    SELECT client_uuid, install_id, boot_seq, seq,
        seq - row_number() OVER (PARTITION BY client_uuid, install_id, boot_seq ORDER BY seq) AS shift
    FROM log_keys
), islands AS (
    SELECT client_uuid, install_id, boot_seq, shift, max(seq) AS high
    FROM numbered
    GROUP BY client_uuid, install_id, boot_seq, shift
), lowest AS (
    SELECT DISTINCT ON (client_uuid, install_id, boot_seq) client_uuid, install_id, boot_seq, high
    FROM islands
    ORDER BY client_uuid, install_id, boot_seq, shift
), passed AS (
    INSERT INTO log_marks (client_uuid, install_id, boot_seq, seq, updated_at)
    SELECT client_uuid, install_id, boot_seq, high, now() FROM lowest
    ON CONFLICT (client_uuid, install_id, boot_seq) DO UPDATE
        SET seq = greatest(log_marks.seq, EXCLUDED.seq), updated_at = EXCLUDED.updated_at
    RETURNING client_uuid, install_id, boot_seq, seq
)
DELETE FROM log_keys AS k
USING passed AS p
WHERE (k.client_uuid, k.install_id, k.boot_seq) = (p.client_uuid, p.install_id, p.boot_seq) AND k.seq <= p.seq;
