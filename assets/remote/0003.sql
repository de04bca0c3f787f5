-- Tells everyone who listens which project has new rows.
CREATE FUNCTION overrule.tell_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('overrule', NEW.project::text);
    RETURN NULL;
END
$$;
CREATE TRIGGER state_told AFTER INSERT OR UPDATE ON overrule.state
    FOR EACH ROW EXECUTE FUNCTION overrule.tell_project();
CREATE TRIGGER judgment_told AFTER INSERT OR UPDATE ON overrule.judgment
    FOR EACH ROW EXECUTE FUNCTION overrule.tell_project();
