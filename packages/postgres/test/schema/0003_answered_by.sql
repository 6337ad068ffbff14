alter table calls add column answered_by text;

