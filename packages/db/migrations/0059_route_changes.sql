-- The project whose routes have changed goes with the notification, so that gateways load only these. Gateways of the
-- version before load all at any notification. One transaction notifies once for each project.
CREATE FUNCTION towpath_notify_route_of_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN PERFORM pg_notify('towpath_route', OLD.project_id::text); END IF;
  IF TG_OP <> 'DELETE' THEN PERFORM pg_notify('towpath_route', NEW.project_id::text); END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE FUNCTION towpath_notify_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_notify('towpath_route', OLD.id::text); RETURN NULL; END $$;--> statement-breakpoint
CREATE FUNCTION towpath_notify_portal_server() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A portal that was deleted with its servers has notified itself.
  PERFORM pg_notify('towpath_route', project_id::text) FROM portal WHERE id IN (OLD.portal_id, NEW.portal_id);
  RETURN NULL;
END $$;--> statement-breakpoint
DROP TRIGGER route_notify ON "route";--> statement-breakpoint
CREATE TRIGGER route_notify AFTER INSERT OR UPDATE OR DELETE ON "route" FOR EACH ROW EXECUTE FUNCTION towpath_notify_route_of_project();--> statement-breakpoint
DROP TRIGGER project_notify ON "project";--> statement-breakpoint
CREATE TRIGGER project_notify AFTER UPDATE OR DELETE ON "project" FOR EACH ROW EXECUTE FUNCTION towpath_notify_project();--> statement-breakpoint
DROP TRIGGER access_policy_notify ON "access_policy";--> statement-breakpoint
CREATE TRIGGER access_policy_notify AFTER INSERT OR UPDATE OR DELETE ON "access_policy" FOR EACH ROW EXECUTE FUNCTION towpath_notify_route_of_project();--> statement-breakpoint
DROP TRIGGER call_limit_notify ON "call_limit";--> statement-breakpoint
CREATE TRIGGER call_limit_notify AFTER INSERT OR UPDATE OR DELETE ON "call_limit" FOR EACH ROW EXECUTE FUNCTION towpath_notify_route_of_project();--> statement-breakpoint
DROP TRIGGER external_server_notify ON "external_server";--> statement-breakpoint
CREATE TRIGGER external_server_notify AFTER INSERT OR DELETE OR UPDATE OF "url", "credential_header", "credential_ciphertext", "manifest" ON "external_server" FOR EACH ROW EXECUTE FUNCTION towpath_notify_route_of_project();--> statement-breakpoint
DROP TRIGGER portal_notify ON "portal";--> statement-breakpoint
CREATE TRIGGER portal_notify AFTER INSERT OR UPDATE OR DELETE ON "portal" FOR EACH ROW EXECUTE FUNCTION towpath_notify_route_of_project();--> statement-breakpoint
DROP TRIGGER portal_server_notify ON "portal_server";--> statement-breakpoint
CREATE TRIGGER portal_server_notify AFTER INSERT OR UPDATE OR DELETE ON "portal_server" FOR EACH ROW EXECUTE FUNCTION towpath_notify_portal_server();--> statement-breakpoint
DROP TRIGGER former_name_notify ON "former_name";--> statement-breakpoint
CREATE TRIGGER former_name_notify AFTER INSERT OR UPDATE OR DELETE ON "former_name" FOR EACH ROW EXECUTE FUNCTION towpath_notify_route_of_project();--> statement-breakpoint
DROP TRIGGER domain_notify ON "domain";--> statement-breakpoint
CREATE TRIGGER domain_notify AFTER INSERT OR DELETE OR UPDATE OF "active_at", "project_id" ON "domain" FOR EACH ROW EXECUTE FUNCTION towpath_notify_route_of_project();--> statement-breakpoint
DROP FUNCTION towpath_notify_route();
