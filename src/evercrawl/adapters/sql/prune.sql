-- prune_candidates --
-- The next versions, page by page, oldest first.
select page_id, number, seen_us, digest, record_id, length from version
 where shard = :shard and (page_id, number) > (:page_id, :number) order by page_id, number limit :most

-- content_holder --
-- The first version that held some content.
select page_id, number from content where shard = :shard and digest = :digest

-- delete_version (page_id bigint, number bigint) --
-- Delete a version.
delete from version
 where version.shard = :shard and version.page_id = :page_id and version.number = :number

-- delete_analysis (page_id bigint, number bigint) --
-- Delete what analysers found in a version.
delete from analysis
 where analysis.shard = :shard and analysis.page_id = :page_id and analysis.number = :number

-- delete_content (digest bytea, page_id bigint, number bigint) --
-- Delete the content of which this version is the first holder.
delete from content
 where content.shard = :shard and content.digest = :digest and content.page_id = :page_id and content.number = :number

-- texts_of_page --
-- The stored texts of a page, oldest first.
select number, base, frame from text where shard = :shard and page_id = :page_id order by number

-- delete_texts (page_id bigint) --
-- Delete the texts of a page; the remaining ones are written again.
delete from text
 where text.shard = :shard and text.page_id = :page_id

-- versions_in_file --
-- The versions with a record in an archive file.
select v.page_id, v.number, v.offset, v.length from version v where v.shard = :shard and v.file = :file

-- move_version (page_id bigint key, number bigint key, file text, offset bigint, length bigint) --
-- Set the new place of a version's record.
update version set file = :file, "offset" = :offset, length = :length
 where version.shard = :shard and version.page_id = :page_id and version.number = :number

-- resources_in_file --
-- The resources with a record in an archive file.
select r.key, r.digest, r.offset, r.length from resource r where r.shard = :shard and r.file = :file

-- move_resource (key bytea key, digest bytea key, file text, offset bigint, length bigint) --
-- Set the new place of a resource's record.
update resource set file = :file, "offset" = :offset, length = :length
 where resource.shard = :shard and resource.key = :key and resource.digest = :digest

-- delete_baselines (file text) --
-- Delete the baselines with a record in an archive file; the pages are compared with their newest versions.
delete from baseline
 where baseline.shard = :shard and baseline.file = :file

-- insert_dropped_file (name text) --
-- Record an archive file without references.
insert into dropped_file (shard, name)
values (:shard, :name)
    on conflict do nothing

-- dropped_files --
-- The archive files that are still to be deleted.
select name from dropped_file where shard = :shard order by name

-- delete_dropped_file (name text) --
-- Forget a deleted archive file.
delete from dropped_file
 where dropped_file.shard = :shard and dropped_file.name = :name

-- set_archive_end --
-- Acknowledge the archive up to this end.
update shard set archive_file = :file, archive_size = :size where shard = :shard
