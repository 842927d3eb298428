create index by_time on capture (shard, at_us, id);
create index by_record on capture (record_id) where kind = 'response';
create index by_url on capture (url, at_us) where kind = 'response';
create index by_payload on capture (payload) where kind = 'response';
create index request_by_record on request (record_id);
create index request_by_answer on request (concurrent);
