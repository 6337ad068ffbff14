alter table operations add column trace text;

