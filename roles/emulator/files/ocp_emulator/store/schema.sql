-- SPDX-License-Identifier: GPL-3.0-or-later
-- Copyright (c) 2026 oceanbase.ocp contributors
--
-- The tables of the emulator. Whoever changes them raises SCHEMA_VERSION in database.py.
--
-- Times are milliseconds since the epoch.
-- operating_task: the task that occupies an object (of a host: its agent). It makes a target busy. NULL: not occupied.
-- up: whether the process runs, whatever the status says.
-- restarts: how often a start step started it.
-- due_at: when the state of a subtask changes next.
-- waits: whether the task waits for a target that another task occupies, or else fails.
-- starts: each start of a process or of a whole cluster, with the start that was shown before and the task that did it.
-- outcome, reason: how the attempt that runs now will end.
-- serves: whether a server answers: it runs, is ACTIVE, and was not stopped after its start.
-- value, set_value, start_value: what a server runs with, what was set, and what it takes at its next start.
-- ledger: when a server or an arbitration service began or ceased to serve, and by which task, in the order of events;
-- of a tenant, when log streams began to be degraded or ceased to be.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE users (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, password TEXT NOT NULL, permissions TEXT NOT NULL
);
CREATE TABLE access_keys (
    id TEXT PRIMARY KEY, secret TEXT NOT NULL, user_id INTEGER NOT NULL REFERENCES users
) WITHOUT ROWID;

CREATE TABLE hosts (
    id INTEGER PRIMARY KEY, ip TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    agent_status TEXT NOT NULL, agent_unavailable_since INTEGER, operating_task INTEGER,
    create_time INTEGER NOT NULL, update_time INTEGER NOT NULL, restarts INTEGER NOT NULL
);
CREATE TABLE agent_processes (
    id INTEGER PRIMARY KEY, host_id INTEGER NOT NULL REFERENCES hosts, alias TEXT NOT NULL,
    pid INTEGER NOT NULL, status TEXT NOT NULL, start_time INTEGER NOT NULL, stop_time INTEGER,
    create_time INTEGER NOT NULL, update_time INTEGER NOT NULL
);
CREATE INDEX agent_processes_of_host ON agent_processes (host_id);
CREATE TABLE clusters (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, ob_cluster_id INTEGER NOT NULL, type TEXT NOT NULL,
    version TEXT NOT NULL, status TEXT NOT NULL, start_time INTEGER NOT NULL, operating_task INTEGER,
    create_time INTEGER NOT NULL, update_time INTEGER NOT NULL, restarts INTEGER NOT NULL, compaction TEXT NOT NULL
);
CREATE TABLE zones (
    id INTEGER PRIMARY KEY, cluster_id INTEGER NOT NULL REFERENCES clusters, name TEXT NOT NULL,
    region TEXT NOT NULL, idc TEXT NOT NULL, status TEXT NOT NULL, inner_status TEXT NOT NULL, operating_task INTEGER,
    create_time INTEGER NOT NULL, update_time INTEGER NOT NULL, restarts INTEGER NOT NULL, compaction TEXT NOT NULL,
    UNIQUE (cluster_id, name)
);
-- Places are names; the smallest id of a zone there stands for their id.
CREATE VIEW regions AS SELECT min(id) AS id, region AS name FROM zones GROUP BY region;
CREATE VIEW idcs AS SELECT min(id) AS id, idc AS name FROM zones GROUP BY idc;
CREATE TABLE servers (
    id INTEGER PRIMARY KEY, cluster_id INTEGER NOT NULL REFERENCES clusters, zone_id INTEGER NOT NULL REFERENCES zones,
    host_id INTEGER NOT NULL REFERENCES hosts, ip TEXT NOT NULL, port INTEGER NOT NULL, sql_port INTEGER NOT NULL,
    version TEXT NOT NULL, root INTEGER NOT NULL, status TEXT NOT NULL, inner_status TEXT NOT NULL,
    start_time INTEGER NOT NULL, stop_time INTEGER NOT NULL, operating_task INTEGER, update_time INTEGER NOT NULL,
    up INTEGER NOT NULL, restarts INTEGER NOT NULL,
    serves INTEGER AS (up AND inner_status = 'ACTIVE' AND stop_time <= start_time)
);
CREATE INDEX servers_of_cluster ON servers (cluster_id);
CREATE INDEX servers_of_zone ON servers (zone_id);
CREATE INDEX servers_of_host ON servers (host_id);
CREATE TABLE arbitration_services (
    id INTEGER PRIMARY KEY, host_id INTEGER NOT NULL REFERENCES hosts, ip TEXT NOT NULL, port INTEGER NOT NULL,
    version TEXT NOT NULL, status TEXT NOT NULL, operating_task INTEGER,
    create_time INTEGER NOT NULL, update_time INTEGER NOT NULL,
    up INTEGER NOT NULL, restarts INTEGER NOT NULL
);
CREATE TABLE obproxy_clusters (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, address TEXT NOT NULL, port INTEGER NOT NULL,
    create_time INTEGER NOT NULL
);
CREATE TABLE obproxies (
    id INTEGER PRIMARY KEY, cluster_id INTEGER NOT NULL REFERENCES obproxy_clusters,
    host_id INTEGER NOT NULL REFERENCES hosts, ip TEXT NOT NULL, port INTEGER NOT NULL, exporter_port INTEGER NOT NULL,
    idc TEXT NOT NULL, version TEXT NOT NULL, operating_task INTEGER, update_time INTEGER NOT NULL,
    up INTEGER NOT NULL, restarts INTEGER NOT NULL
);
CREATE INDEX obproxies_of_cluster ON obproxies (cluster_id);
CREATE TABLE degraded (
    service_id INTEGER NOT NULL REFERENCES arbitration_services, cluster_id INTEGER NOT NULL REFERENCES clusters,
    tenant TEXT NOT NULL, log_streams TEXT NOT NULL, PRIMARY KEY (service_id, cluster_id, tenant)
) WITHOUT ROWID;
CREATE TABLE tenants (
    id INTEGER PRIMARY KEY, cluster_id INTEGER NOT NULL REFERENCES clusters, ob_tenant_id INTEGER NOT NULL,
    name TEXT NOT NULL, mode TEXT NOT NULL, locality TEXT NOT NULL, primary_zone TEXT NOT NULL, status TEXT NOT NULL,
    locked INTEGER NOT NULL, readonly INTEGER NOT NULL, arbitration_service_id INTEGER REFERENCES arbitration_services,
    create_time INTEGER NOT NULL, UNIQUE (cluster_id, name)
);
CREATE TABLE replicas (
    tenant_id INTEGER NOT NULL REFERENCES tenants, position INTEGER NOT NULL, zone TEXT NOT NULL, type TEXT NOT NULL,
    number INTEGER NOT NULL, voters INTEGER NOT NULL, PRIMARY KEY (tenant_id, position)
) WITHOUT ROWID;
CREATE TABLE units (
    id INTEGER PRIMARY KEY, tenant_id INTEGER NOT NULL REFERENCES tenants, zone TEXT NOT NULL,
    server_id INTEGER NOT NULL REFERENCES servers
);
CREATE INDEX units_of_tenant ON units (tenant_id);
CREATE INDEX occupied_hosts ON hosts (operating_task) WHERE operating_task IS NOT NULL;
CREATE INDEX occupied_clusters ON clusters (operating_task) WHERE operating_task IS NOT NULL;
CREATE INDEX occupied_zones ON zones (operating_task) WHERE operating_task IS NOT NULL;
CREATE INDEX occupied_servers ON servers (operating_task) WHERE operating_task IS NOT NULL;
CREATE INDEX occupied_services ON arbitration_services (operating_task) WHERE operating_task IS NOT NULL;
CREATE INDEX occupied_obproxies ON obproxies (operating_task) WHERE operating_task IS NOT NULL;

CREATE TABLE tasks (
    id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, operation TEXT NOT NULL, status TEXT NOT NULL,
    creator_id INTEGER NOT NULL, creator_name TEXT NOT NULL, executor TEXT NOT NULL, context TEXT NOT NULL,
    create_time INTEGER NOT NULL, start_time INTEGER NOT NULL, finish_time INTEGER, waits INTEGER NOT NULL
);
CREATE INDEX tasks_by_status ON tasks (status);
CREATE TABLE targets (
    task_id INTEGER NOT NULL REFERENCES tasks, object_type TEXT NOT NULL, cluster_id INTEGER, zone_id INTEGER,
    server_id INTEGER, host_id INTEGER, arbitration_service_id INTEGER, obproxy_id INTEGER
);
CREATE INDEX targets_of_task ON targets (task_id);
CREATE TABLE audit_events (
    id INTEGER PRIMARY KEY, task_id INTEGER NOT NULL REFERENCES tasks, client TEXT NOT NULL, target INTEGER NOT NULL
);
CREATE TABLE subtasks (
    id INTEGER PRIMARY KEY, task_id INTEGER NOT NULL REFERENCES tasks, series_id INTEGER NOT NULL,
    position INTEGER NOT NULL, description TEXT NOT NULL, action TEXT, element TEXT, parallel_idx INTEGER NOT NULL,
    timeout INTEGER NOT NULL, status TEXT NOT NULL, operation TEXT NOT NULL, run_time INTEGER NOT NULL,
    ready_ms INTEGER NOT NULL, run_ms INTEGER NOT NULL, start_time INTEGER, finish_time INTEGER, due_at INTEGER,
    outcome TEXT, reason TEXT, prohibit_rollback INTEGER NOT NULL
);
CREATE INDEX subtasks_of_task ON subtasks (task_id, position);
CREATE INDEX subtasks_due ON subtasks (due_at) WHERE due_at IS NOT NULL;
CREATE TABLE links (
    upstream INTEGER NOT NULL, downstream INTEGER NOT NULL, PRIMARY KEY (upstream, downstream)
) WITHOUT ROWID;
CREATE INDEX links_upwards ON links (downstream, upstream);
CREATE TABLE log_lines (subtask_id INTEGER NOT NULL REFERENCES subtasks, line TEXT NOT NULL);
CREATE INDEX lines_of_subtask ON log_lines (subtask_id);

CREATE TABLE starts (
    id INTEGER PRIMARY KEY, object_type TEXT NOT NULL, object_id INTEGER NOT NULL,
    before INTEGER NOT NULL, at INTEGER NOT NULL, task_id INTEGER
);
CREATE INDEX starts_of_object ON starts (object_type, object_id);
CREATE TRIGGER start_of_server AFTER UPDATE OF start_time ON servers BEGIN
    INSERT INTO starts (object_type, object_id, before, at, task_id)
    VALUES ('OB_SERVER', NEW.id, OLD.start_time, NEW.start_time, NEW.operating_task);
END;
CREATE TRIGGER start_of_cluster AFTER UPDATE OF start_time ON clusters BEGIN
    INSERT INTO starts (object_type, object_id, before, at, task_id)
    VALUES ('OB_CLUSTER', NEW.id, OLD.start_time, NEW.start_time, NEW.operating_task);
END;
CREATE TRIGGER start_of_agent_process AFTER UPDATE OF start_time ON agent_processes BEGIN
    INSERT INTO starts (object_type, object_id, before, at, task_id)
    VALUES ('AGENT_PROCESS', NEW.id, OLD.start_time, NEW.start_time,
        (SELECT operating_task FROM hosts WHERE id = NEW.host_id));
END;

CREATE TABLE ledger (
    id INTEGER PRIMARY KEY, object_type TEXT NOT NULL, object_id INTEGER NOT NULL,
    at INTEGER NOT NULL, serves INTEGER NOT NULL, task_id INTEGER
);
CREATE TRIGGER ledger_of_server AFTER UPDATE ON servers WHEN OLD.serves <> NEW.serves BEGIN
    INSERT INTO ledger (object_type, object_id, at, serves, task_id)
    VALUES ('OB_SERVER', NEW.id, NEW.update_time, NEW.serves, NEW.operating_task);
END;
CREATE TRIGGER ledger_of_service AFTER UPDATE ON arbitration_services WHEN OLD.up <> NEW.up BEGIN
    INSERT INTO ledger (object_type, object_id, at, serves, task_id)
    VALUES ('ARBITRATION_SERVICE', NEW.id, NEW.update_time, NEW.up, NEW.operating_task);
END;

-- A stop is noticed after 30 seconds; its alarm is cleared 180 seconds after the start, unless the server stops again.
CREATE TABLE alarms (
    id INTEGER PRIMARY KEY, alarm_type TEXT NOT NULL, level INTEGER NOT NULL, app_type TEXT NOT NULL,
    scope TEXT NOT NULL, cluster_id INTEGER, tenant TEXT, server_id INTEGER, host_ip TEXT, summary TEXT,
    active_at INTEGER NOT NULL, resolved_at INTEGER, planted INTEGER NOT NULL
);
CREATE INDEX alarms_of_server ON alarms (server_id);
CREATE TRIGGER alarm_of_stop AFTER UPDATE OF up ON servers WHEN OLD.up AND NOT NEW.up BEGIN
    UPDATE alarms SET resolved_at = NULL
    WHERE server_id = NEW.id AND NOT planted AND resolved_at > NEW.update_time;
    INSERT INTO alarms (alarm_type, level, app_type, scope, cluster_id, server_id, host_ip, active_at, planted)
    SELECT 'observer_process_stop', 1, 'OceanBase', 'Host', NEW.cluster_id, NEW.id, NEW.ip, NEW.update_time + 30000, 0
    WHERE NOT EXISTS (SELECT 1 FROM alarms WHERE server_id = NEW.id AND NOT planted AND resolved_at IS NULL);
END;
CREATE TRIGGER alarm_of_start AFTER UPDATE OF up ON servers WHEN NEW.up AND NOT OLD.up BEGIN
    UPDATE alarms SET resolved_at = max(active_at, NEW.update_time + 180000)
    WHERE server_id = NEW.id AND NOT planted AND resolved_at IS NULL;
END;

CREATE TABLE metric_values (
    id INTEGER PRIMARY KEY, server_id INTEGER NOT NULL REFERENCES servers, name TEXT NOT NULL,
    at INTEGER NOT NULL, value REAL NOT NULL
);
CREATE INDEX metric_values_of ON metric_values (server_id, name);
CREATE TABLE backups (
    id INTEGER PRIMARY KEY, cluster_id INTEGER NOT NULL REFERENCES clusters, tenant_id INTEGER REFERENCES tenants,
    status TEXT NOT NULL, start_time INTEGER NOT NULL, finish_time INTEGER
);
CREATE TABLE restores (
    id INTEGER PRIMARY KEY, cluster_id INTEGER NOT NULL REFERENCES clusters,
    tenant_id INTEGER NOT NULL REFERENCES tenants, name TEXT NOT NULL,
    status TEXT NOT NULL, create_time INTEGER NOT NULL, finish_time INTEGER
);
-- An inspection makes a report of each of its clusters. When it has succeeded, the report keeps the risks of that moment.
CREATE TABLE planted_risks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, cluster_id INTEGER NOT NULL REFERENCES clusters,
    item TEXT NOT NULL, level TEXT NOT NULL, target TEXT NOT NULL, value TEXT NOT NULL
);
CREATE TABLE inspection_reports (
    id INTEGER PRIMARY KEY, task_id INTEGER NOT NULL REFERENCES tasks,
    cluster_id INTEGER NOT NULL REFERENCES clusters, tag INTEGER NOT NULL
);
CREATE INDEX reports_of_cluster ON inspection_reports (cluster_id, tag);
CREATE INDEX reports_of_task ON inspection_reports (task_id);
CREATE TABLE reported_risks (
    report_id INTEGER NOT NULL REFERENCES inspection_reports,
    item TEXT NOT NULL, level TEXT NOT NULL, target TEXT NOT NULL, value TEXT NOT NULL
);
CREATE INDEX risks_of_report ON reported_risks (report_id);
CREATE TABLE parameters (
    server_id INTEGER NOT NULL REFERENCES servers, name TEXT NOT NULL, value TEXT NOT NULL,
    set_value TEXT NOT NULL, start_value TEXT NOT NULL, PRIMARY KEY (server_id, name)
) WITHOUT ROWID;
CREATE TABLE obproxy_parameters (
    obproxy_id INTEGER NOT NULL REFERENCES obproxies, name TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (obproxy_id, name)
) WITHOUT ROWID;
CREATE TRIGGER parameters_at_start AFTER UPDATE OF up ON servers WHEN NEW.up AND NOT OLD.up BEGIN
    UPDATE parameters SET value = start_value WHERE server_id = NEW.id;
END;

CREATE TABLE wrong_passwords (kind TEXT NOT NULL, name TEXT NOT NULL, at INTEGER NOT NULL);
CREATE INDEX wrong_passwords_of ON wrong_passwords (kind, name);
CREATE TABLE lockouts (
    kind TEXT NOT NULL, name TEXT NOT NULL, since INTEGER NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TABLE faults (
    id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, fault TEXT NOT NULL, times INTEGER,
    matches INTEGER NOT NULL, hits INTEGER NOT NULL, create_time INTEGER NOT NULL
);
