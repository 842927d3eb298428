-- page_to_remove --
-- A page by its key: number, key, site, credit and newest version.
select p.id, p.key, p.site_id, p.credit, p.version
  from seen k join page p on p.shard = :shard and p.id = k.page_id where k.shard = :shard and k.key = :key

-- pages_to_remove --
-- The next pages of a site.
select p.id, p.key, p.site_id, p.credit, p.version
  from site s join page p on p.shard = :shard and p.site_id = s.id
 where s.shard = :shard and s.name = :site and p.id > :after order by p.id limit :most

-- versions_to_remove --
-- The versions of a page, oldest first.
select v.number, v.seen_us, v.file, v.offset, v.digest, v.record_id, v.length
  from version v where v.shard = :shard and v.page_id = :page_id order by v.number

-- site_to_remove --
-- The number of a site.
select id from site where shard = :shard and name = :site

-- resources_to_remove --
-- Number of the stored assets and redirects of a URL, or of all URLs that begin with a prefix.
select count(*) from resource r
 where r.shard = :shard and (r.key = :key or substr(r.url, 1, length(cast(:prefix as text))) = cast(:prefix as text))

-- referring_resources --
-- The resources whose body another record holds.
select r.key, r.digest, r.record_id, r.refers_to from resource r where r.shard = :shard and r.refers_to is not null

-- set_referred (key bytea key, digest bytea key, refers_to bytea) --
-- Set the record that holds the body of a resource; null: its own.
update resource set refers_to = :refers_to
 where resource.shard = :shard and resource.key = :key and resource.digest = :digest

-- remove_resources --
-- Delete the resources of a URL, or of all URLs that begin with a prefix.
delete from resource where shard = :shard
   and (key = :key or substr(url, 1, length(cast(:prefix as text))) = cast(:prefix as text))

-- remove_refusals --
-- Delete the refusals of a URL, or of all URLs that begin with a prefix.
delete from refusal where shard = :shard
   and (key = :key or substr(url, 1, length(cast(:prefix as text))) = cast(:prefix as text))

-- remove_versions (page_id bigint) --
-- Delete the versions of a page.
delete from version
 where version.shard = :shard and version.page_id = :page_id

-- remove_analyses (page_id bigint) --
-- Delete what analysers found in the versions of a page.
delete from analysis
 where analysis.shard = :shard and analysis.page_id = :page_id

-- remove_baseline (page_id bigint) --
-- Delete the baseline of a page.
delete from baseline
 where baseline.shard = :shard and baseline.page_id = :page_id

-- remove_changes (page_id bigint, from_us bigint, to_us bigint) --
-- Delete the edits that visits to a page found in a span of time.
delete from change
 where change.shard = :shard and change.page_id = :page_id and change.at_us >= :from_us and change.at_us <= :to_us

-- remove_noise (page_id bigint) --
-- Delete what the last visit to a page called noise.
delete from noise
 where noise.shard = :shard and noise.page_id = :page_id

-- remove_outline (page_id bigint) --
-- Delete the headings and links of a page.
delete from outline
 where outline.shard = :shard and outline.page_id = :page_id

-- remove_assets_of (page_id bigint) --
-- Forget that the assets of a page are stored.
delete from assets_of
 where assets_of.shard = :shard and assets_of.page_id = :page_id

-- remove_visits (page_id bigint) --
-- Delete the visits to a page, except the newest of the log, so that no number is used twice.
delete from visit
 where visit.shard = :shard and visit.page_id = :page_id
   and visit.id < (select max(v.id) from visit v where v.shard = :shard)

-- remove_late_changes (page_id bigint) --
-- Delete the late verdicts about a page, except the newest of all, so that no number is used twice.
delete from late_change
 where late_change.shard = :shard and late_change.page_id = :page_id
   and late_change.id < (select max(l.id) from late_change l where l.shard = :shard)

-- release_duplicates (page_id bigint key, due_us bigint) --
-- Let the duplicates of a page stand for themselves and be visited soon.
update page set duplicate_of = null, due_us = case when page.seq is null then :due_us else page.due_us end
 where page.shard = :shard and page.duplicate_of = :page_id

-- remove_seen (key bytea) --
-- Delete the key of a page.
delete from seen
 where seen.shard = :shard and seen.key = :key

-- remove_page (page_id bigint) --
-- Delete a page.
delete from page
 where page.shard = :shard and page.id = :page_id

-- set_newest_version (page_id bigint key, version bigint, digest bytea) --
-- Make an older version the newest one of a page, which is then downloaded in full.
update page set version = :version, digest = :digest, etag = null, last_modified = null
 where page.shard = :shard and page.id = :page_id

-- remove_site_state (site_id bigint) --
-- Delete the learned state of a site.
delete from site_state
 where site_state.shard = :shard and site_state.site_id = :site_id

-- remove_site (id bigint) --
-- Delete a site.
delete from site
 where site.shard = :shard and site.id = :id

-- set_content_holder (digest bytea key, page_id bigint, number bigint) --
-- Set the version that holds some content.
update content set page_id = :page_id, number = :number
 where content.shard = :shard and content.digest = :digest

-- baselines_in_file --
-- The baselines with a record in an archive file.
select l.page_id, l.offset, l.length from baseline l where l.shard = :shard and l.file = :file

-- move_baseline (page_id bigint key, file text, offset bigint, length bigint) --
-- Set the new place of a baseline's record.
update baseline set file = :file, "offset" = :offset, length = :length
 where baseline.shard = :shard and baseline.page_id = :page_id

-- clear_tally --
-- Forget the numbers of URLs by outcome and reason.
delete from tally where shard = :shard

-- tally_pages --
-- Count the pages by outcome and reason.
insert into tally (shard, outcome, reason, urls)
select :shard, coalesce(p.outcome, 'queued'), coalesce(p.reason, 'waiting'), count(*)
  from page p where p.shard = :shard group by 2, 3

-- tally_refusals --
-- Count the refusals by reason.
insert into tally (shard, outcome, reason, urls)
select :shard, 'rejected', r.reason, count(*) from refusal r where r.shard = :shard group by 3
    on conflict (shard, outcome, reason) do update set urls = tally.urls + excluded.urls

-- recount_refusals --
-- Count the stored refusals.
update shard set refusals_kept = (select count(*) from refusal r where r.shard = :shard) where shard.shard = :shard

-- recount_site --
-- Count the pages and queued pages of a site.
update site set pages = (select count(*) from page p where p.shard = :shard and p.site_id = :site_id),
       pending = (select count(*) from page p where p.shard = :shard and p.site_id = :site_id and p.seq is not null)
 where site.shard = :shard and site.id = :site_id
