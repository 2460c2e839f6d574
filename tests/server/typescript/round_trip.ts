// What a user of the generated client writes: every value below has the type that the OpenAPI document gives it.
import assert from "node:assert/strict";

import { createClient } from "./client/client/index.js";
import * as api from "./client/index.js";

const [baseUrl, token] = process.argv.slice(2);
assert(baseUrl !== undefined && token !== undefined);
const client = createClient({ baseUrl, auth: () => token });
const path = { graph_id: "g" };
const about = { client, path, throwOnError: true } as const;

const INSERT = "query add($name: String, $age: I32?) { insert Person { name: $name, age: $age } }";
const AGE_OF = "query age_of($name: String) { match { $p: Person { name: $name } } return { $p.age } }";

async function names(branch: string): Promise<string[]> {
  const { data } = await api.clusterInvokeQuery({ ...about, path: { ...path, name: "people" }, body: { branch } });
  assert("rows" in data);
  return data.rows.map((row) => String(row["p.name"]));
}

async function server(): Promise<void> {
  const { data: health } = await api.health({ client, throwOnError: true });
  assert.equal(health.status, "ok");
  const { data: listed } = await api.listGraphs({ client, throwOnError: true });
  assert.deepEqual(listed.graphs.map((graph) => graph.graph_id), ["g"]);
  const { data: catalogue } = await api.clusterListQueries(about);
  assert.deepEqual(catalogue.queries.map((query) => query.name), ["add_person", "people"]);
}

async function errors(): Promise<void> {
  const nobody = await api.clusterListBranches({ client: createClient({ baseUrl }), path });
  assert.equal(nobody.response?.status, 401);
  assert.equal(nobody.error?.code, "unauthorized");
  const wrong = await api.clusterQuery({ client, path, body: { query: "query q() {" } });
  assert.equal(wrong.data, undefined);
  assert.equal(wrong.error.code, "bad_request");
  assert.equal(wrong.error.diagnostics?.[0]?.["line"], 1);
}

async function load(): Promise<void> {
  const records = [{ name: "cyd", age: 7 }, { name: "dov", age: 8 }].map((data) => ({ type: "Person", data }));
  const body = new Blob(records.map((record) => JSON.stringify(record) + "\n"));
  const { data: loaded } = await api.clusterLoadNdjson({ ...about, query: { mode: "append" }, body });
  assert.deepEqual(loaded.nodes, [{ name: "Person", entities_loaded: 2 }]);
  assert.equal(loaded.commit?.actor_id, "ada");
}

async function mutate(): Promise<void> {
  const { data: done } = await api.clusterMutate({ ...about, body: { query: INSERT, params: { name: "eli", age: 9 } } });
  assert.equal(done.affected_nodes, 1);
  assert(done.commit);
  const body = { query: INSERT, params: { name: "flo" } };
  const headers = { "Omnigraph-If-Graph-Commit": done.commit.graph_commit_id };
  await api.clusterMutateIfGraphCommit({ ...about, body, headers });
  const late = await api.clusterMutateIfGraphCommit({ client, path, body, headers });
  assert.equal(late.response?.status, 412);
  assert.equal(late.error?.precondition_failure?.expected, done.commit.graph_commit_id);
}

async function query(): Promise<void> {
  const { data: found } = await api.clusterQuery({ ...about, body: { query: AGE_OF, params: { name: "eli" } } });
  assert.deepEqual(found.rows, [{ "p.age": 9 }]);
  assert.equal(found.row_count, 1);
  const { data: photo } = await api.clusterGetBlob({
    ...about,
    query: { entity: "node", type: "Person", id: "ada", property: "photo" },
    headers: { Range: "bytes=0-4" },
  });
  assert.equal(await photo.text(), "hello");
}

async function branches(): Promise<void> {
  const { data: made } = await api.clusterCreateBranch({ ...about, body: { name: "side/one", from: "main" } });
  assert.equal(made.from, "main");
  const body = { query: INSERT, params: { name: "gil" }, branch: "side/one" };
  const { data: done } = await api.clusterMutate({ ...about, body });
  assert.equal(done.branch, "side/one");
  assert(!(await names("main")).includes("gil"));
  const { data: merged } = await api.clusterMergeBranches({ ...about, body: { source: "side/one" } });
  assert.equal(merged.outcome, "fast_forward");
  await api.clusterDeleteBranch({ ...about, path: { ...path, branch: "side/one" } });
  const { data: listed } = await api.clusterListBranches(about);
  assert.deepEqual(listed.branches, ["main"]);
  assert.deepEqual(await names("main"), ["ada", "ben", "cyd", "dov", "eli", "flo", "gil"]);
}

async function history(): Promise<void> {
  const { data: listed } = await api.clusterListCommits(about);
  const newest = listed.commits[0];
  assert(newest);
  const commit = { ...path, commit_id: newest.graph_commit_id };
  const { data: changed } = await api.clusterGetCommitChanges({ ...about, path: commit, query: { kind: ["node"], op: ["insert", "update"] } });
  assert.deepEqual(changed.changes.map((change) => change.after?.properties["name"]), ["gil"]);
  const { data: exported } = await api.clusterExport({ ...about, body: { type_names: ["Secret"] } });
  assert.match(await exported.text(), /xyzzy/);
}

async function schema(): Promise<void> {
  const { data: now } = await api.clusterGetSchema(about);
  const wanted = `${now.schema_source}\nnode Town { name: String @key }\n`;
  const { data: plan } = await api.clusterPlanSchema({ ...about, body: { schema_source: wanted } });
  assert.deepEqual(plan.steps.map((step) => step["kind"]), ["add_type"]);
}

for (const part of [server, errors, load, mutate, query, branches, history, schema]) {
  await part();
  console.log(part.name);
}
