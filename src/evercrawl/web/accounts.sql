create table secret (name text primary key, value blob not null) without rowid;
create table token (id integer primary key, name text not null, hash blob not null unique,
                    scope integer not null, created_us integer not null, used_us integer);
create table session (hash blob primary key, who text not null, scope integer not null, csrf text not null,
                      expires_us integer not null) without rowid;
create table audit (id integer primary key, at_us integer not null, who text not null, what text not null,
                    detail text not null);
