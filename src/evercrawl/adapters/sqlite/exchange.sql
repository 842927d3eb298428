-- stored_versions --
-- A portion of the versions that a selection names, in order of page and number. ?1, ?2: behind this page and number;
-- ?3: site (origin, host or host with port); ?4, ?5: first and last moment; ?6: language; ?7: newest only; ?8: most rows.
select p.id, p.url, v.number, v.seen_us, v.status, v.digest, v.payload_sha1, v.content_type, v.encoding, v.title, v.lang,
       v.body_bytes, v.words, v.file, v.offset, v.length, v.record_id, v.truncated
  from version v join page p on p.id = v.page_id join site s on s.id = p.site_id
 where (v.page_id, v.number) > (?1, ?2)
   and (cast(?3 as text) is null or s.name in (?3, 'http://' || ?3, 'https://' || ?3)
        or substr(s.name, 1, length(?3) + 8) = 'http://' || ?3 || ':'
        or substr(s.name, 1, length(?3) + 9) = 'https://' || ?3 || ':')
   and (cast(?4 as bigint) is null or v.seen_us >= ?4) and (cast(?5 as bigint) is null or v.seen_us <= ?5)
   and (cast(?6 as text) is null or lower(v.lang) = ?6 or substr(lower(v.lang), 1, length(?6) + 1) = ?6 || '-')
   and (not ?7 or not exists (select 1 from version w where w.page_id = v.page_id and w.number > v.number
                                 and (cast(?5 as bigint) is null or w.seen_us <= ?5)))
 order by v.page_id, v.number limit ?8

-- visits_at --
-- The visits of a page at one moment: status, and the digest of the content that was its newest then; of one that met
-- other bytes without a change of meaning the digest is not known.
select t.status, case when t.reason = 'noise' then null else v.digest end from visit t left join version v on v.page_id = t.page_id and v.number = t.version
 where t.page_id = ? and t.at_us = ?
