//! Images that a provider does not take: too many pixels, or data that nobody can decode.

use context_manager::{
    IMAGE_TOO_LARGE_KIND, IMAGE_UNDECODABLE_KIND, ImageSize, Mend, Model, Profile, Prompt, Rule, validate,
};

use crate::setup::{
    call, codex_prompt, data_url, manager_of, parts, picture, png, projected, prompt, raw, rules, user,
};

fn with_max(max: u32) -> Profile {
    let mut profile = Profile::responses();
    profile.max_image_px = Some(max);
    profile
}

#[track_caller]
fn check_size(url: &str, want: Option<(u32, u32)>) {
    let mut small = with_max(1);
    small.undecodable_image = Mend::Allow;
    let found = validate(manager_of([picture(url)]).history(), &Model::new("m1"), &small);
    let sizes: Vec<Option<ImageSize>> = found.iter().map(|found| found.image_size).collect();
    assert_eq!(sizes, Vec::from_iter(want.map(|(width, height)| Some(ImageSize { width, height }))), "{url}");
}

#[test]
fn n19_an_image_with_too_many_pixels_is_reported_and_a_placeholder_stands_for_it() {
    let manager = manager_of([picture(&png(2_984, 8_340))]);
    let made = manager.for_prompt(&parts(), &with_max(8_000));
    let gone = "image content omitted because it has 2984x8340 pixels and a side may have 8000";
    assert_eq!(projected(&made), [format!("U\"see|{gone}\"")]);
    assert_eq!(made.items()[0].kinds()[1], IMAGE_TOO_LARGE_KIND);
    assert_eq!(made.media().removed_images, 1);
    let repair = &made.repairs()[0];
    assert_eq!(
        (repair.rule(), repair.item_id(), repair.path()),
        (Rule::ImageTooLarge, Some("msg_7"), "content[1]".into())
    );
    assert_eq!(repair.image_size(), Some(ImageSize { width: 2_984, height: 8_340 }));
    // The limit itself is taken, and a profile without one takes all.
    assert_eq!(rules(&manager_of([picture(&png(8_000, 1))]).for_prompt(&parts(), &with_max(8_000))), [""; 0]);
    assert_eq!(rules(&prompt(&manager)), [""; 0]);
    assert!(manager.history().items().all(|envelope| envelope.item().has_images()), "the store keeps it");
}

#[test]
fn n19_the_report_comes_before_sending_and_the_placeholder_is_a_matter_of_policy() {
    let manager = manager_of([user("u"), picture(&png(2_984, 8_340))]);
    let mut profile = with_max(8_000);
    for (mend, is_mended) in [(Mend::Apply, true), (Mend::Keep, false)] {
        profile.large_image = mend;
        let found = validate(manager.history(), &Model::new("m1"), &profile);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].rule, found[0].item_id.as_deref()), (Rule::ImageTooLarge, Some("msg_7")));
        assert_eq!(found[0].image_size.map(|size| size.to_string()).as_deref(), Some("2984x8340"));
        assert_eq!(found[0].is_mended, is_mended);
        assert_eq!(rules(&manager.for_prompt(&parts(), &profile)).len(), usize::from(is_mended));
    }
    profile.large_image = Mend::Allow;
    assert!(validate(manager.history(), &Model::new("m1"), &profile).is_empty());
}

#[test]
fn n19_the_headers_of_four_formats_are_read() {
    check_size(&png(3, 70_000), Some((3, 70_000)));
    check_size(&data_url("image/gif", b"GIF89a\x03\x00\x05\x01\0\0"), Some((3, 261)));
    check_size(
        &data_url("image/webp", b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x40\x01\xf0\x00"),
        Some((320, 240)),
    );
    check_size(&data_url("image/webp", b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x3f\xc1\x3b\x00"), Some((320, 240)));
    check_size(&data_url("image/webp", b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x3f\x01\0\xef\0\0"), Some((320, 240)));
    // A JPEG may have a long preface: a thumbnail in an application segment, and filling.
    let mut jpeg = b"\xff\xd8\xff\xe1\x00\x0a\xff\xc0\0\0\0\0\0\0\xff\xff\xdb\x00\x03\0".to_vec();
    jpeg.extend(b"\xff\xc2\x00\x11\x08\x00\xf0\x01\x40\x03");
    check_size(&data_url("image/jpeg", &jpeg), Some((320, 240)));
    // The name of the type may be wrong, and the case is free.
    check_size(&png(2, 9).replacen("data:image/png;base64", "DATA:image/jpeg;name=a;BASE64", 1), Some((2, 9)));
    for unknown in
        ["https://example.org/a.png", "data:image/png,plain", "data:image/svg+xml;base64,PHN2Zz4=", "", "data:"]
    {
        check_size(unknown, None);
        assert_eq!(rules(&prompt(&manager_of([picture(unknown)]))), [""; 0], "{unknown}");
    }
}

#[test]
fn an_image_that_cannot_be_decoded_is_a_placeholder() {
    let cut = png(10, 10);
    let shorter = &cut[..cut.len() - 13];
    for url in [
        "data:image/png;base64,AAAA",
        "data:image/png;base64,%%%".replace('%', "!").as_str(),
        "data:image/webp;base64,",
        shorter,
    ] {
        let manager = manager_of([picture(url)]);
        let made = prompt(&manager);
        assert_eq!(projected(&made), ["U\"see|image content omitted because its data cannot be decoded\""], "{url}");
        assert_eq!(made.items()[0].kinds()[1], IMAGE_UNDECODABLE_KIND);
        assert_eq!((rules(&made), made.repairs()[0].path()), (vec!["image_undecodable"], "content[1]".into()));
        assert_eq!(rules(&codex_prompt(&manager)), [""; 0]);
    }
}

#[test]
fn every_bad_image_of_an_output_is_named_beside_parts_that_are_blank() {
    let bad = r#"{"type":"input_image","image_url":"data:image/png;base64,AAAA"}"#;
    let blank = r#"{"type":"input_text","text":""}"#;
    let output = raw(&format!(
        r#"{{"type":"function_call_output","call_id":"1","output":[{blank},{bad},{{"type":"input_image","image_url":"{}"}},{bad}]}}"#,
        png(1, 1)
    ));
    let made: Prompt = prompt(&manager_of([call("1"), output]));
    let paths: Vec<String> = made.repairs().iter().map(|repair| repair.path()).collect();
    assert_eq!(rules(&made), ["image_undecodable", "image_undecodable", "blank_output"]);
    assert_eq!(paths, ["output[1]", "output[3]", "output"]);
    assert_eq!(made.media().removed_images, 2);
    assert!(made.items()[1].item().as_str().contains(&png(1, 1)));
}

#[test]
fn what_the_provider_does_not_take_goes_whatever_the_model_takes() {
    let audio = raw(r#"{"type":"message","role":"user","content":[{"type":"input_audio","audio_url":"u"}]}"#);
    let manager = manager_of([audio]);
    let made = manager.for_prompt(&parts(), &Profile::anthropic_messages());
    assert_eq!(rules(&made), ["audio_unsupported"]);
    assert!(made.media().allowed.images && !made.media().allowed.audio);
    assert_eq!(rules(&prompt(&manager)), [""; 0]);
}
