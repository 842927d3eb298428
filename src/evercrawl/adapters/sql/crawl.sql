-- read_shard --
-- Epoch, next numbers and archive end of the shard.
select epoch, is_clean, next_id, next_seq, next_site_id, next_link_batch, archive_file, archive_size
  from shard where shard = :shard

-- claim_shard --
-- Raise the epoch, which fences off every older owner, and record that the shard is in use.
update shard set epoch = epoch + 1, is_clean = 0 where shard = :shard

-- release_shard --
-- Record a clean release; no effect for a former owner.
update shard set is_clean = 1 where shard = :shard and epoch = :epoch

-- advance_shard --
-- Advance the next numbers, which never decrease, and acknowledge the archive up to the given end.
update shard set next_id = greatest(next_id, :next_id), next_seq = greatest(next_seq, :next_seq),
       next_site_id = greatest(next_site_id, :next_site_id), next_link_batch = greatest(next_link_batch, :next_link_batch),
       archive_file = coalesce(:archive_file, archive_file), archive_size = coalesce(:archive_size, archive_size)
 where shard = :shard

-- last_visit --
-- When the last visit was.
select at_us from visit where shard = :shard order by id desc limit 1

-- set_back_pages --
-- Let pages that were visited in the future be due as long after now as they would have been after their visit.
update page set due_us = case when due_us is null then null else :now_us + greatest(due_us - last_us, 0) end,
       confirmed_us = case when confirmed_us > :now_us then :now_us else confirmed_us end, last_us = :now_us
 where shard = :shard and last_us > :now_us

-- set_back_sites --
-- Let sites open as long after now as they would have opened after the last visit, at least after their delay. A closed
-- site that opens before the last visit may have been closed by either clock: within a day.
update site set open_us = :now_us + greatest(open_us - :last_us,
       case when closed_reason is null then 1000 * delay_ms else cast(:most_us as bigint) end)
 where shard = :shard and open_us > :now_us + greatest(open_us - :last_us,
       case when closed_reason is null then 1000 * delay_ms else cast(:most_us as bigint) end)

-- set_back_robots --
-- Read robots.txt of the future again.
update robots set fetched_us = :now_us, expires_us = :now_us where shard = :shard and fetched_us > :now_us

-- set_back_resources --
-- Let assets and redirects of the future count as seen now.
update resource set last_us = :now_us, fresh_until_us = :now_us where shard = :shard and last_us > :now_us

-- count_refusals --
-- Add to the number of stored refusals and of refusals dropped beyond the limit.
update shard set refusals_kept = refusals_kept + :kept, refusals_dropped = refusals_dropped + :dropped
 where shard = :shard

-- refusals_kept --
-- Number of stored refusals.
select refusals_kept from shard where shard = :shard

-- sum_sites --
-- Number of pages and of queued pages.
select cast(coalesce(sum(pages), 0) as bigint), cast(coalesce(sum(pending), 0) as bigint) from site where shard = :shard

-- write_site (id bigint key, name text, domain text, open_us bigint, delay_ms bigint, backoff double precision,
--   failures bigint, closed_reason text, requests bigint, wire_bytes bigint) --
-- Insert or replace a site, except for its page counts.
insert into site (shard, id, name, domain, open_us, delay_ms, backoff, failures, closed_reason, requests, wire_bytes)
values (:shard, :id, :name, :domain, :open_us, :delay_ms, :backoff, :failures, :closed_reason, :requests, :wire_bytes)
    on conflict (shard, name) do update set domain = excluded.domain, open_us = excluded.open_us,
       delay_ms = excluded.delay_ms, backoff = excluded.backoff, failures = excluded.failures,
       closed_reason = excluded.closed_reason, requests = excluded.requests, wire_bytes = excluded.wire_bytes

-- write_robots (site_id bigint key, fetched_us bigint, expires_us bigint, status bigint, body bytea, etag text,
--   last_modified text, policy text, detail text, unreachable_since_us bigint) --
-- Write a robots record if it differs: the body may be half a megabyte, and a busy site is committed every second.
insert into robots (shard, site_id, fetched_us, expires_us, status, body, etag, last_modified, policy, detail,
                    unreachable_since_us)
values (:shard, :site_id, :fetched_us, :expires_us, :status, :body, :etag, :last_modified, :policy, :detail,
        :unreachable_since_us)
    on conflict (shard, site_id) do update set fetched_us = excluded.fetched_us, expires_us = excluded.expires_us,
       status = excluded.status, body = excluded.body, etag = excluded.etag, last_modified = excluded.last_modified,
       policy = excluded.policy, detail = excluded.detail, unreachable_since_us = excluded.unreachable_since_us
 where (robots.fetched_us, robots.expires_us, robots.status, robots.etag, robots.last_modified, robots.policy,
        robots.detail, robots.unreachable_since_us)
       is distinct from
       (excluded.fetched_us, excluded.expires_us, excluded.status, excluded.etag, excluded.last_modified,
        excluded.policy, excluded.detail, excluded.unreachable_since_us)
    or robots.body is distinct from excluded.body

-- delete_robots (site_id bigint) --
-- Delete the robots record of a site.
delete from robots
 where robots.shard = :shard and robots.site_id = :site_id

-- count_site (id bigint key, pages bigint, pending bigint) --
-- Add to the page counts of a site and set its most urgent priority, which the index of the queue gives in one step.
update site set pages = site.pages + :pages, pending = site.pending + :pending,
       priority = coalesce((select q.priority from page q where q.shard = :shard and q.site_id = :id and q.seq is not null
                         order by q.priority limit 1), site.priority)
 where site.shard = :shard and site.id = :id

-- insert_page (id bigint, key bytea, url text, site_id bigint, depth bigint, hops bigint, priority bigint, seq bigint,
--   parent_id bigint, found_us bigint, credit bigint, earned bigint, generation bigint) --
-- Insert a new page, in the order of the NewPage tuple.
insert into page (shard, id, key, url, site_id, depth, hops, priority, seq, parent_id, found_us, credit, earned, generation)
values (:shard, :id, :key, :url, :site_id, :depth, :hops, :priority, :seq, :parent_id, :found_us, :credit, :earned,
        :generation)

-- insert_seen (key bytea, page_id bigint) --
-- Index a new key; fails on a known one, and the commit then filters the known keys.
insert into seen (shard, key, page_id)
values (:shard, :key, :page_id)

-- is_seen (key bytea) --
-- Return the key if it belongs to a page.
select key from seen where shard = :shard and key = :key

-- seen_keys --
-- The next keys of pages.
select key from seen where shard = :shard and key > :after order by key limit :most

-- decision_about (key bytea) --
-- Why a URL was refused before, and whether it is a page.
select wanted.key, r.reason, r.detail, exists (select 1 from seen where seen.shard = :shard and seen.key = :key)
  from (select :key as key) wanted left join refusal r on r.shard = :shard and r.key = :key

-- write_refusal (key bytea key, url text, reason text, detail text, parent text, at_us bigint, depth bigint) --
-- Insert or replace a refusal.
insert into refusal (shard, key, url, reason, detail, parent, at_us, depth)
values (:shard, :key, :url, :reason, :detail, :parent, :at_us, :depth)
    on conflict (shard, key) do update set url = excluded.url, reason = excluded.reason, detail = excluded.detail,
       parent = excluded.parent, at_us = excluded.at_us, depth = excluded.depth

-- delete_refusals_of_pages --
-- Delete the refusals whose URLs became pages, starting at a page number.
delete from refusal where shard = :shard
   and key in (select p.key from page p where p.shard = :shard and p.id >= :first_id) returning reason

-- refusals --
-- The next refused URLs.
select key, url, reason, detail, parent, at_us, depth
  from refusal where shard = :shard and key > :after order by key limit :most

-- count_tally (outcome text key, reason text key, urls bigint) --
-- Add to the number of URLs with this outcome and reason.
insert into tally (shard, outcome, reason, urls)
values (:shard, :outcome, :reason, :urls)
    on conflict (shard, outcome, reason) do update set urls = tally.urls + excluded.urls

-- touched_page (id bigint) --
-- The columns of a page that a commit may change, and whether the page has a baseline and an outline.
select p.id, p.site_id, p.priority, p.seq, p.due_us, p.outcome, p.reason, p.detail, p.status, p.last_us, p.confirmed_us,
       p.visits, p.tries, p.interval_s, p.version, p.digest, p.etag, p.last_modified, p.moved_to, p.duplicate_of,
       p.rate_estimate, p.credit,
       p.visits > 0 and exists (select 1 from baseline l where l.shard = :shard and l.page_id = p.id),
       p.visits > 0 and exists (select 1 from outline o where o.shard = :shard and o.page_id = p.id)
  from page p where p.shard = :shard and p.id = :id

-- update_page (id bigint key, priority bigint, seq bigint, due_us bigint, outcome text, reason text, detail text,
--   status bigint, last_us bigint, confirmed_us bigint, visits bigint, tries bigint, interval_s bigint, version bigint,
--   digest bytea, etag text, last_modified text, moved_to text, duplicate_of bigint, rate_estimate bytea, credit bigint) --
-- Write all the columns of a page that a commit may change.
update page set priority = :priority, seq = :seq, due_us = :due_us, outcome = :outcome, reason = :reason, detail = :detail,
       status = :status, last_us = :last_us, confirmed_us = :confirmed_us, visits = :visits, tries = :tries,
       interval_s = :interval_s, version = :version, digest = :digest, etag = :etag, last_modified = :last_modified,
       moved_to = :moved_to, duplicate_of = :duplicate_of, rate_estimate = :rate_estimate, credit = :credit
 where page.shard = :shard and page.id = :id

-- add_credit (page_id bigint key, amount bigint, generation bigint) --
-- Add a share of credit. What was earned before halves with each generation since.
update page set credit = page.credit + :amount, generation = :generation,
       earned = :amount + case when :generation - page.generation > 62 then 0
                               when :generation > page.generation
                               then page.earned >> cast(:generation - page.generation as integer)
                               else page.earned end
 where page.shard = :shard and page.id = :page_id

-- promote (page_id bigint key, old_priority bigint, old_seq bigint, priority bigint, seq bigint) --
-- Move a queued page to the end of a more urgent priority, unless it has left its place.
update page set priority = :priority, seq = :seq
 where page.shard = :shard and page.id = :page_id and page.priority = :old_priority and page.seq = :old_seq

-- repoint_duplicates (page_id bigint key, represented_by bigint) --
-- Let the duplicates of a page refer to the page that represents it.
update page set duplicate_of = :represented_by
 where page.shard = :shard and page.duplicate_of = :page_id and page.id <> :represented_by

-- reschedule (page_id bigint key, due_us bigint, rate_estimate bytea) --
-- Set the revisit estimate of a page and, outside the queue, its due time; null keeps the old value.
update page set due_us = case when page.seq is null then coalesce(:due_us, page.due_us) else page.due_us end,
       rate_estimate = coalesce(:rate_estimate, page.rate_estimate)
 where page.shard = :shard and page.id = :page_id

-- queue_position (key bytea) --
-- Queue position and credit of a page.
select k.key, p.id, p.site_id, p.priority, p.seq, p.credit
  from seen k join page p on p.shard = :shard and p.id = k.page_id
 where k.shard = :shard and k.key = :key

-- duplicate_candidate_by_key --
-- A page that another one may duplicate, by its key.
select p.id, p.url, p.version, v.signature, p.moved_to, p.duplicate_of, v.title, v.digest, p.status
  from seen k join page p on p.shard = :shard and p.id = k.page_id
       left join version v on v.shard = :shard and v.page_id = p.id and v.number = p.version
 where k.shard = :shard and k.key = :key

-- duplicate_candidate_by_id --
-- The same by its number.
select p.id, p.url, p.version, v.signature, p.moved_to, p.duplicate_of, v.title, v.digest, p.status
  from page p left join version v on v.shard = :shard and v.page_id = p.id and v.number = p.version
 where p.shard = :shard and p.id = :page_id

-- insert_visit (page_id bigint, at_us bigint, outcome text, reason text, status bigint, took_ms bigint,
--   wire_bytes bigint, version bigint) --
-- Append a visit to the log.
insert into visit (shard, page_id, at_us, outcome, reason, status, took_ms, wire_bytes, version)
values (:shard, :page_id, :at_us, :outcome, :reason, :status, :took_ms, :wire_bytes, :version)

-- insert_version (page_id bigint, seen_us bigint, changed_after_us bigint, status bigint, number bigint, digest bytea,
--   payload_sha1 bytea, text_digest bytea, signature bytea, content_type text, encoding text, title text, lang text,
--   body_bytes bigint, words bigint, etag text, last_modified text, file text, offset bigint, length bigint,
--   record_id bytea, truncated text, change_class text, change_size double precision) --
-- Insert a version: page, moment, last moment without it, status, then the Version tuple without its text.
insert into version (shard, page_id, seen_us, changed_after_us, status, number, digest, payload_sha1, text_digest,
                     signature, content_type, encoding, title, lang, body_bytes, words, etag, last_modified, file,
                     "offset", length, record_id, truncated, change_class, change_size)
values (:shard, :page_id, :seen_us, :changed_after_us, :status, :number, :digest, :payload_sha1, :text_digest,
        :signature, :content_type, :encoding, :title, :lang, :body_bytes, :words, :etag, :last_modified, :file,
        :offset, :length, :record_id, :truncated, :change_class, :change_size)

-- insert_text (page_id bigint, number bigint, base bigint, frame bytea) --
-- Insert the main text of a version.
insert into text (shard, page_id, number, base, frame)
values (:shard, :page_id, :number, :base, :frame)

-- insert_baseline (page_id bigint, digest bytea, payload_sha1 bytea, seen_us bigint, record_id bytea, file text,
--   offset bigint, length bigint, snapshot bytea, memory bytea) --
-- Insert the first baseline of a page: its number, then the Baseline tuple.
insert into baseline (shard, page_id, digest, payload_sha1, seen_us, record_id, file, "offset", length, snapshot, memory)
values (:shard, :page_id, :digest, :payload_sha1, :seen_us, :record_id, :file, :offset, :length, :snapshot, :memory)

-- update_baseline (page_id bigint key, digest bytea, payload_sha1 bytea, seen_us bigint, record_id bytea, file text,
--   offset bigint, length bigint, snapshot bytea, memory bytea) --
-- Replace the baseline of a page.
update baseline set digest = :digest, payload_sha1 = :payload_sha1, seen_us = :seen_us, record_id = :record_id, file = :file,
       "offset" = :offset, length = :length, snapshot = :snapshot, memory = :memory
 where baseline.shard = :shard and baseline.page_id = :page_id

-- baseline --
-- The baseline of a page, in the order of the Baseline tuple.
select l.digest, l.payload_sha1, l.seen_us, l.record_id, l.file, l.offset, l.length, l.snapshot, l.memory
  from baseline l where l.shard = :shard and l.page_id = :page_id

-- page_outline --
-- Headings and links of the newest content of a page.
select frame from outline where shard = :shard and page_id = :page_id

-- insert_outline (page_id bigint, at_us bigint, frame bytea) --
-- Insert the first outline of a page.
insert into outline (shard, page_id, at_us, frame)
values (:shard, :page_id, :at_us, :frame)

-- update_outline (page_id bigint key, at_us bigint, frame bytea) --
-- Replace the outline of a page.
update outline set at_us = :at_us, frame = :frame
 where outline.shard = :shard and outline.page_id = :page_id

-- write_noise (page_id bigint key, at_us bigint, edits text) --
-- Write what the last visit to a page called noise.
insert into noise (shard, page_id, at_us, edits)
values (:shard, :page_id, :at_us, :edits)
    on conflict (shard, page_id) do update set at_us = excluded.at_us, edits = excluded.edits

-- write_analysis (page_id bigint key, number bigint key, fields text) --
-- Write what analysers found in a version, as a JSON object.
insert into analysis (shard, page_id, number, fields)
values (:shard, :page_id, :number, :fields)
    on conflict (shard, page_id, number) do update set fields = excluded.fields

-- write_site_state (site_id bigint key, kind text key, value bytea) --
-- Replace the learned state of one kind of a site.
insert into site_state (shard, site_id, kind, value)
values (:shard, :site_id, :kind, :value)
    on conflict (shard, site_id, kind) do update set value = excluded.value

-- site_state --
-- The learned state of one kind of a site.
select value from site_state where shard = :shard and site_id = :site_id and kind = :kind

-- sites_with_state --
-- The sites with learned state of one kind.
select site_id from site_state where shard = :shard and kind = :kind and site_id > 0 order by site_id

-- insert_change (page_id bigint, at_us bigint, kind text, size double precision, edits text) --
-- Insert the edits that a visit found.
insert into change (shard, page_id, at_us, kind, size, edits)
values (:shard, :page_id, :at_us, :kind, :size, :edits)
    on conflict do nothing

-- settle_change (page_id bigint key, at_us bigint key, kind text, size double precision, edits text) --
-- Write the verdict on an earlier visit, and its edits.
insert into change (shard, page_id, at_us, kind, size, edits)
values (:shard, :page_id, :at_us, :kind, :size, :edits)
    on conflict (shard, page_id, at_us) do update set kind = excluded.kind, size = excluded.size, edits = excluded.edits

-- settle_version (page_id bigint key, at_us bigint key, kind text, size double precision) --
-- Write the verdict on the version that an earlier visit stored.
update version set change_class = :kind, change_size = :size
 where version.shard = :shard and version.page_id = :page_id and version.seen_us = :at_us

-- insert_late_change (page_id bigint, at_us bigint) --
-- Note that the verdict on an earlier visit has come.
insert into late_change (shard, page_id, at_us)
values (:shard, :page_id, :at_us)

-- text_chain --
-- The frames that lead to one text, the one without a base first; no more than a chain may have.
with recursive chain (base, frame, step) as (
  select t.base, t.frame, 1 from text t where t.shard = :shard and t.page_id = :page_id and t.number = :number
  union all
  select t.base, t.frame, c.step + 1
    from chain c join text t on t.shard = :shard and t.page_id = :page_id and t.number = c.base
   where c.step < :most
)
select frame, base from chain order by step desc

-- insert_content (digest bytea, page_id bigint, number bigint) --
-- Record the first holder of some content; it stays the original.
insert into content (shard, digest, page_id, number)
values (:shard, :digest, :page_id, :number)
    on conflict do nothing

-- write_resource (key bytea key, digest bytea key, url text, seen_us bigint, last_us bigint, fresh_until_us bigint,
--   status bigint, moved_to text, payload_sha1 bytea, content_type text, body_bytes bigint, etag text,
--   last_modified text, file text, offset bigint, length bigint, record_id bytea, truncated text, refers_to bytea) --
-- Insert a resource, or note that its content was seen again.
insert into resource (shard, key, digest, url, seen_us, last_us, fresh_until_us, status, moved_to, payload_sha1,
                      content_type, body_bytes, etag, last_modified, file, "offset", length, record_id, truncated,
                      refers_to)
values (:shard, :key, :digest, :url, :seen_us, :last_us, :fresh_until_us, :status, :moved_to, :payload_sha1,
        :content_type, :body_bytes, :etag, :last_modified, :file, :offset, :length, :record_id, :truncated, :refers_to)
    on conflict (shard, key, digest) do update set last_us = greatest(resource.last_us, excluded.last_us),
       fresh_until_us = excluded.fresh_until_us, etag = excluded.etag, last_modified = excluded.last_modified

-- resources_of --
-- The contents of a URL that is not a page, newest first, in the order of the Resource tuple.
select r.key, r.digest, r.url, r.seen_us, r.last_us, r.fresh_until_us, r.status, r.moved_to, r.payload_sha1,
       r.content_type, r.body_bytes, r.etag, r.last_modified, r.file, r.offset, r.length, r.record_id, r.truncated,
       r.refers_to
  from resource r where r.shard = :shard and r.key = :key order by r.last_us desc, r.seen_us desc, r.digest

-- resource_original --
-- The record that holds the body of some content of resources.
select 0, r.url, r.seen_us, r.record_id, r.payload_sha1, r.file, r.offset, r.length
  from resource r where r.shard = :shard and r.digest = :digest and r.refers_to is null
 order by r.seen_us, r.key limit 1

-- write_assets_of (page_id bigint key, number bigint key, marks bytea) --
-- Note the assets of a version, which are all stored.
insert into assets_of (shard, page_id, number, marks)
values (:shard, :page_id, :number, :marks)
    on conflict (shard, page_id, number) do update set marks = excluded.marks

-- pages_without_assets --
-- The next pages whose newest version needs its assets read.
select p.id, p.url, p.version
  from page p
 where p.shard = :shard and p.id > :after_id and p.version > 0 and not exists (
       select 1 from assets_of a where a.shard = :shard and a.page_id = p.id and a.number >= p.version)
 order by p.id limit :most

-- insert_link_batch (seq bigint, source bigint, target bigint, links bytea) --
-- Put links for another shard into the outbox; the same number is the same batch.
insert into outbox (shard, seq, source, target, links)
values (:shard, :seq, :source, :target, :links)
    on conflict do nothing

-- delete_link_batch (seq bigint) --
-- Remove a delivered batch from the outbox.
delete from outbox
 where outbox.shard = :shard and outbox.seq = :seq

-- write_received (source bigint key, seq bigint) --
-- Record how far a source's batches were received; the mark never decreases.
insert into inbox (shard, source, seq)
values (:shard, :source, :seq)
    on conflict (shard, source) do update set seq = greatest(inbox.seq, excluded.seq)

-- outbox --
-- The batches in the outbox, in order.
select seq, source, target, links from outbox where shard = :shard order by seq

-- received --
-- How far each source's batches were received.
select source, seq from inbox where shard = :shard

-- site_named (name text) --
-- A site by its origin.
select id, name, domain, open_us, delay_ms, backoff, failures, closed_reason, pages, pending, priority, requests, wire_bytes,
       fetched_us, expires_us, status, body, etag, last_modified, policy, detail, unreachable_since_us
  from site_row where shard = :shard and name = :name

-- site_by_id --
-- A site by its number.
select id, name, domain, open_us, delay_ms, backoff, failures, closed_reason, pages, pending, priority, requests, wire_bytes,
       fetched_us, expires_us, status, body, etag, last_modified, policy, detail, unreachable_since_us
  from site_row where shard = :shard and id = :site_id

-- waiting_sites --
-- The next sites with queued pages whose most urgent priority is this one.
select id, name, domain, open_us, delay_ms, backoff, failures, closed_reason, pages, pending, priority, requests, wire_bytes,
       fetched_us, expires_us, status, body, etag, last_modified, policy, detail, unreachable_since_us
  from site_row where shard = :shard and pending > 0 and priority = :priority and id > :after_id order by id limit :most

-- queue --
-- The next queued pages of a site in one priority.
select id, key, url, site_id, depth, hops, priority, seq, tries, visits, version, etag, last_modified, digest, interval_s,
       rate_estimate, last_us, credit, earned, generation, duplicate_of
  from page where shard = :shard and site_id = :site_id and priority = :priority and seq > :after_seq order by seq limit :most

-- due --
-- The pages whose due time has passed, earliest first.
select id, key, url, site_id, depth, hops, priority, 0, tries, visits, version, etag, last_modified, digest, interval_s,
       rate_estimate, last_us, credit, earned, generation, duplicate_of
  from page where shard = :shard and due_us <= :now_us order by due_us, id limit :most

-- unfetched --
-- The next pages that have a due time and no stored version.
select id, key, url, site_id, depth, hops, priority, 0, tries, visits, version, etag, last_modified, digest, interval_s,
       rate_estimate, last_us, credit, earned, generation, duplicate_of
  from page where shard = :shard and id > :after_id and version = 0 and due_us is not null order by id limit :most

-- duplicates_of --
-- The pages outside the queue that duplicate this one.
select id, key, url, site_id, depth, hops, priority, 0, tries, visits, version, etag, last_modified, digest, interval_s,
       rate_estimate, last_us, credit, earned, generation, duplicate_of
  from page where shard = :shard and duplicate_of = :page_id and seq is null order by id limit :most

-- page_by_key (key bytea) --
-- A page by its key; seq is 0 outside the queue.
select p.id, p.key, p.url, p.site_id, p.depth, p.hops, p.priority, coalesce(p.seq, 0), p.tries, p.visits, p.version, p.etag,
       p.last_modified, p.digest, p.interval_s, p.rate_estimate, p.last_us, p.credit, p.earned, p.generation, p.duplicate_of
  from seen k join page p on p.shard = :shard and p.id = k.page_id
 where k.shard = :shard and k.key = :key

-- next_due --
-- The earliest due time.
select min(due_us) from page where shard = :shard and due_us is not null

-- original (digest bytea) --
-- The first record of some content.
select c.digest, c.page_id, p.url, v.seen_us, v.record_id, v.payload_sha1, v.file, v.offset, v.length
  from content c join version v on v.shard = :shard and v.page_id = c.page_id and v.number = c.number
       join page p on p.shard = :shard and p.id = c.page_id
 where c.shard = :shard and c.digest = :digest

-- baseline_original --
-- The record of the content seen last, if that is the baseline and not the newest version.
select p.id, p.url, l.seen_us, l.record_id, l.payload_sha1, l.file, l.offset, l.length
  from page p join baseline l on l.shard = :shard and l.page_id = p.id and l.digest = p.digest
 where p.shard = :shard and p.id = :page_id

-- version_original --
-- The record of a page's newest content, which may be a version of another page that had it first, and whether the
-- baseline has the content seen last.
select o.id, o.url, v.seen_us, v.record_id, v.payload_sha1, v.file, v.offset, v.length,
       exists (select 1 from baseline l where l.shard = :shard and l.page_id = p.id and l.digest = p.digest)
  from page p join version n on n.shard = :shard and n.page_id = p.id and n.number = p.version
       join content c on c.shard = :shard and c.digest = n.digest
       join version v on v.shard = :shard and v.page_id = c.page_id and v.number = c.number
       join page o on o.shard = :shard and o.id = c.page_id
 where p.shard = :shard and p.id = :page_id

-- earlier_original --
-- The record of the content of one version, which may be a version of another page that had it first.
select o.id, o.url, v.seen_us, v.record_id, v.payload_sha1, v.file, v.offset, v.length
  from version n join content c on c.shard = :shard and c.digest = n.digest
       join version v on v.shard = :shard and v.page_id = c.page_id and v.number = c.number
       join page o on o.shard = :shard and o.id = c.page_id
 where n.shard = :shard and n.page_id = :page_id and n.number = :number

-- moved_to --
-- The target of a page's redirect at its last visit.
select p.moved_to from seen k join page p on p.shard = :shard and p.id = k.page_id
 where k.shard = :shard and k.key = :key
