ALTER TABLE "kept_call" ADD COLUMN "member_id" uuid;--> statement-breakpoint
ALTER TABLE "kept_call" ADD COLUMN "member_tool" text;--> statement-breakpoint
CREATE FUNCTION towpath_notify_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Gateways notify clients with an open stream: the call, and whose list it is in.
  PERFORM pg_notify('towpath_task', NEW.id || ' ' || coalesce(NEW.task_owner, ''));
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER kept_call_notify AFTER UPDATE OF "state" ON "kept_call" FOR EACH ROW
  WHEN (NEW.task_keep_ms IS NOT NULL AND OLD.state IS DISTINCT FROM NEW.state AND NEW.state <> 'fetched')
  EXECUTE FUNCTION towpath_notify_task();